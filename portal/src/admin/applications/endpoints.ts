import { ConnectionError } from '@portal-auth/sdk';
import { serviceBase } from '../../auth';
import { issuerUrl } from '../../page-settings';

/** The addresses that an application may need (OpenID Connect Discovery 1.0). */
export interface Endpoints {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly jwks_uri: string;
  readonly end_session_endpoint: string;
  readonly device_authorization_endpoint?: string;
}

export const discoveryUrl = (issuer: string): string => `${issuer}/.well-known/openid-configuration`;

/** The service answers below the path of the issuer. The issuer can have another origin, which this page may not ask. */
export async function findEndpoints(signal: AbortSignal): Promise<Endpoints> {
  try {
    const answer = await fetch(discoveryUrl(new URL(new URL(issuerUrl).pathname, serviceBase).href), { signal });
    if (answer.ok) return (await answer.json()) as Endpoints;
  } catch (cause) {
    throw new ConnectionError('discovery did not answer', { cause });
  }
  throw new ConnectionError('discovery was refused');
}
