import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { type LogoutClaims, type ProviderClient, ProviderAway, ProviderRefused } from '../provider-connection';
import { signatureAlgorithms } from './configurations';
import type { Library, ServerMetadata } from './library';
import { ProviderFetch } from './provider-fetch';
import { urlOf } from '../../shared/url-text';

type KeySet = ReturnType<Library['jose']['createRemoteJWKSet']>;

const event = 'http://schemas.openid.net/event/backchannel-logout';
const tolerance = 30;
const oldestSeconds = 600;
const requestMs = 5000;
const idLength = 255;

/** Verifies logout tokens with the keys of the provider, which are loaded again when a key is unknown. */
@Injectable()
export class LogoutTokens {
  private readonly keys = new Map<string, KeySet>();

  constructor(
    private readonly fetch: ProviderFetch,
    private readonly clock: Clock,
  ) {}

  async verify(
    { jose }: Library,
    client: ProviderClient,
    metadata: ServerMetadata,
    token: string,
  ): Promise<LogoutClaims> {
    const { issuer, clientId } = client;
    const { payload, protectedHeader } = await jose.jwtVerify(token, this.keysOf(jose, issuer, metadata), {
      ...{ issuer, audience: clientId },
      algorithms: signatureAlgorithms,
      clockTolerance: tolerance,
      currentDate: this.clock.now(),
      requiredClaims: ['iat', 'exp', 'jti', 'events'],
      maxTokenAge: oldestSeconds,
    });
    // OpenID Connect Back-Channel Logout 1.0 asks for the first one, and providers send the others.
    if (!['logout+jwt', 'jwt', undefined].includes(protectedHeader.typ?.toLowerCase()))
      throw new ProviderRefused('typ');
    const { sub, sid, jti, exp, events } = payload as Record<string, unknown>;
    if (typeof events !== 'object' || events === null || !(event in events)) throw new ProviderRefused('events');
    // A token with a nonce is an ID token that somebody sends in here.
    if ('nonce' in payload) throw new ProviderRefused('nonce');
    if (sub === undefined && sid === undefined) throw new ProviderRefused('sub');
    for (const text of [sub ?? 'none', sid ?? 'none', jti]) {
      if (typeof text !== 'string' || text === '' || text.length > idLength) throw new ProviderRefused('claims');
    }
    const expires = new Date(Math.min(exp as number, this.clock.epochSeconds() + oldestSeconds) * 1000);
    return { sub: sub as string | undefined, sid: sid as string | undefined, jti: jti as string, expires };
  }

  /** @throws ProviderAway when the provider has no keys to show */
  async loadKeys({ jose }: Library, issuer: string, metadata: ServerMetadata): Promise<void> {
    await this.keysOf(jose, issuer, metadata).reload();
  }

  private keysOf(jose: Library['jose'], issuer: string, { jwks_uri: uri }: ServerMetadata): KeySet {
    const found = this.keys.get(`${issuer} ${uri}`);
    if (found !== undefined) return found;
    const url = urlOf(uri ?? '');
    if (url === undefined) throw new ProviderAway('jwks_uri');
    const keys = jose.createRemoteJWKSet(url, {
      timeoutDuration: requestMs,
      [jose.customFetch]: (url, { signal, ...init }) => this.fetch.send(url, init, { issuer, signal }),
    });
    this.keys.set(`${issuer} ${uri}`, keys);
    return keys;
  }
}
