import { Injectable } from '@nestjs/common';
import { sha256Hex } from '../../platform/crypto/key-ring';
import { Clock } from '../../shared/clock';
import { type ProviderClient, ProviderRefused } from '../provider-connection';
import type { Configuration, CustomFetch, Library, ServerMetadata } from './library';
import { ProviderFetch } from './provider-fetch';

/** Of the signature of an ID token: asymmetric ones only, so that no secret that others know can sign. */
export const signatureAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Seconds. A change of the document of a provider counts after so long; keys that are unknown are asked for at once. */
const lifetime = 600;
const requestSeconds = 5;
const mostKept = 100;

interface Kept {
  readonly configuration: Promise<Configuration>;
  readonly until: Date;
}

/** What the issuers say of themselves in their discovery documents, kept for a while. */
@Injectable()
export class Configurations {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly fetch: ProviderFetch,
    private readonly clock: Clock,
  ) {}

  /** Callers at the same time share one request. A failure is not kept. */
  of(library: Library, client: ProviderClient): Promise<Configuration> {
    const key = keyOf(client);
    const found = this.kept.get(key);
    if (found !== undefined && found.until > this.clock.now()) return found.configuration;
    return this.discovered(library, client, false);
  }

  /** @param fresh also when the provider has said it a moment ago */
  discovered(library: Library, client: ProviderClient, fresh = true): Promise<Configuration> {
    const key = keyOf(client);
    const configuration = this.ask(library, client, fresh);
    const kept = { configuration, until: this.clock.secondsFromNow(lifetime) };
    this.kept.delete(key);
    this.kept.set(key, kept);
    for (const oldest of [...this.kept.keys()].slice(0, -mostKept)) this.kept.delete(oldest);
    configuration.catch(() => {
      if (this.kept.get(key) === kept) this.kept.delete(key);
    });
    return configuration;
  }

  private async ask({ openid }: Library, client: ProviderClient, fresh: boolean): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = client;
    const isHttp = issuer.startsWith('http:');
    const send: CustomFetch = (url, { signal, ...init }) => this.fetch.send(url, init, { issuer, signal });
    const discover: CustomFetch = (url, { signal, ...init }) => this.fetch.send(url, init, { issuer, signal, fresh });
    const insecure = isHttp ? [openid.allowInsecureRequests] : [];
    const found = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
      [openid.customFetch]: discover,
      timeout: requestSeconds,
      execute: insecure,
    });
    const metadata: ServerMetadata = found.serverMetadata();
    // The package compares URLs and makes an exception for Entra ID; tokens are compared as texts.
    if (metadata.issuer !== issuer) throw new ProviderRefused('issuer');
    const configuration = new openid.Configuration(
      { ...metadata, id_token_signing_alg_values_supported: algorithmsOf(metadata) },
      clientId,
      undefined,
      authenticationOf(openid, metadata, clientSecret),
    );
    configuration[openid.customFetch] = send;
    configuration.timeout = requestSeconds;
    if (isHttp) openid.allowInsecureRequests(configuration);
    // Without this the package trusts the connection to the token endpoint alone.
    openid.enableNonRepudiationChecks(configuration);
    return configuration;
  }
}

/** @throws ProviderRefused for a provider that signs with nothing that this service accepts */
function algorithmsOf({ id_token_signing_alg_values_supported: offered = ['RS256'] }: ServerMetadata): string[] {
  const accepted = offered.filter((name) => signatureAlgorithms.includes(name));
  if (accepted.length === 0) throw new ProviderRefused('algorithms');
  return accepted;
}

function authenticationOf(openid: Library['openid'], metadata: ServerMetadata, secret: string | null) {
  if (secret === null) return openid.None();
  // `client_secret_basic` is what a provider offers that lists nothing (OpenID Connect Discovery 1.0 section 3).
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return offered.includes('client_secret_basic') ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret);
}

const keyOf = ({ issuer, clientId, clientSecret }: ProviderClient): string =>
  sha256Hex(JSON.stringify([issuer, clientId, clientSecret]));
