import { Injectable } from '@nestjs/common';

/** What an application asked the provider for. `authorization` is a sign-in; the others are requests for tokens. */
const kinds = ['authorization', 'authorization_code', 'refresh_token', 'client_credentials', 'device_code'] as const;

/** The error codes of RFC 6749, 8628, 8707, 9449 and OpenID Core that are counted by their name. */
const errors = new Set([
  ...[
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unauthorized_client',
    'unsupported_grant_type',
    'invalid_scope',
  ],
  ...['access_denied', 'login_required', 'consent_required', 'interaction_required', 'invalid_target', 'server_error'],
  ...['authorization_pending', 'slow_down', 'expired_token', 'invalid_dpop_proof', 'use_dpop_nonce'],
]);

/** Counts the answers of the OpenID provider in this process, for the metrics. No label has a value that a client chose. */
@Injectable()
export class OpenIdCounts {
  private readonly counts = new Map<string, { readonly kind: string; readonly result: string; count: number }>();

  /** @param kind `authorization`, or the `grant_type` of the request @param error undefined: success */
  add(kind: unknown, error?: string): void {
    const known = kinds.find((one) => one === String(kind).replace('urn:ietf:params:oauth:grant-type:', '')) ?? 'other';
    const result = error === undefined ? 'success' : errors.has(error) ? error : 'other';
    const key = `${known} ${result}`;
    const entry = this.counts.get(key) ?? { kind: known, result, count: 0 };
    this.counts.set(key, entry);
    entry.count += 1;
  }

  get all(): Iterable<{ readonly kind: string; readonly result: string; readonly count: number }> {
    return this.counts.values();
  }
}
