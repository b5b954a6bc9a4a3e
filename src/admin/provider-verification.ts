import { Injectable } from '@nestjs/common';
import type { IdentityProvider } from '../identity-providers/identity-provider.entity';
import { ProviderAddresses } from '../identity-providers/provider-addresses';
import {
  ProviderAway,
  type ProviderClient,
  ProviderConnection,
  type ProviderFacts,
  ProviderRefused,
} from '../identity-providers/provider-connection';
import { ProviderSecrets } from '../identity-providers/provider-secrets';
import { providerProblem } from './identity-provider-rules';

/** What `idp test` and `doctor` print. Nothing of it is a secret. */
export interface ProviderReport {
  readonly discovery: 'ok' | 'problem';
  readonly secret: 'ok' | 'wrong' | 'none' | 'unknown';
  readonly tells_logout: boolean | null;
  readonly problems: readonly string[];
}

type Asked = Pick<ProviderClient, 'issuer' | 'clientId' | 'clientSecret'>;

/** Asks a provider what it says of itself, and judges whether people can sign in at it (docs/spec/extensions.md#k). */
@Injectable()
export class ProviderVerification {
  constructor(
    private readonly connection: ProviderConnection,
    private readonly secrets: ProviderSecrets,
    private readonly addresses: ProviderAddresses,
  ) {}

  /** Before a provider is stored. @throws ProviderProblem of `issuer`, with what is wrong */
  async assertUsable({ issuer, clientId, clientSecret }: Asked): Promise<void> {
    const problem = await this.problemOf({ issuer, clientId, clientSecret });
    if (problem !== undefined) throw providerProblem('issuer', problem);
  }

  /** Of a stored provider: also whether it accepts the secret. Nobody signs in. */
  async report(provider: IdentityProvider): Promise<ProviderReport> {
    const client = { ...provider, clientSecret: this.secrets.open(provider) };
    try {
      const facts = await this.connection.discover(client);
      const problems = problemsOf(facts);
      if (problems.length > 0) return { discovery: 'problem', secret: 'unknown', tells_logout: null, problems };
      const secret = await this.secretOf(client, provider.id);
      return {
        ...{ discovery: 'ok', secret, tells_logout: facts.tellsLogout },
        problems: secret === 'wrong' ? ['the provider does not accept client_id and client_secret'] : [],
      };
    } catch (error) {
      return {
        discovery: 'problem',
        secret: 'unknown',
        tells_logout: null,
        problems: [`issuer ${sentenceOf(error, client)}`],
      };
    }
  }

  private async problemOf(client: Asked): Promise<string | undefined> {
    try {
      return problemsOf(await this.connection.discover(client))[0];
    } catch (error) {
      return sentenceOf(error, client);
    }
  }

  private async secretOf(client: Asked, id: string): Promise<ProviderReport['secret']> {
    if (client.clientSecret === null) return 'none';
    try {
      return (await this.connection.acceptsClient(client, this.addresses.of(id).redirect_uri)) ? 'ok' : 'wrong';
    } catch (error) {
      if (error instanceof ProviderAway || error instanceof ProviderRefused) return 'unknown';
      throw error;
    }
  }
}

function problemsOf({ authorizationEndpoint, tokenEndpoint, codeChallengeMethods }: ProviderFacts): string[] {
  const endpoints = { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint };
  const missing = Object.entries(endpoints).filter(([, url]) => url === undefined);
  return [
    ...missing.map(([name]) => `has a discovery document without ${name}: people cannot sign in at it`),
    ...(codeChallengeMethods === undefined || codeChallengeMethods.includes('S256')
      ? []
      : ['announces no PKCE with S256 (code_challenge_methods_supported), which every sign-in uses']),
  ];
}

/** What is wrong, for the person who typed the issuer. @throws what is no problem of the provider */
function sentenceOf(error: unknown, { issuer }: Asked): string {
  if (!(error instanceof ProviderAway || error instanceof ProviderRefused)) throw error;
  const named = issuerIn(error);
  if (named !== undefined && named !== issuer) {
    return `calls itself ${JSON.stringify(named)} in its discovery document: give exactly this, or check the address`;
  }
  const known = sentences[error.reason];
  if (known !== undefined) return known;
  const document = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  return error instanceof ProviderAway
    ? `gives no usable answer at ${document} (${error.reason}): check the address, and that this service reaches it`
    : `has a discovery document that does not verify (${error.reason}): ${document}`;
}

const sentences: Readonly<Record<string, string>> = {
  algorithms:
    'signs ID tokens with no asymmetric algorithm (id_token_signing_alg_values_supported): choose RS256 or ES256',
  jwks_uri: 'has a discovery document without jwks_uri: no signature could be verified',
};

/** The issuer that the document names, out of the error of the library. */
function issuerIn(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause !== undefined && cause !== null && depth < 5; depth++) {
    const { body, cause: next } = cause as { readonly body?: { readonly issuer?: unknown }; readonly cause?: unknown };
    if (typeof body?.issuer === 'string') return body.issuer.slice(0, 512);
    cause = next;
  }
  return undefined;
}
