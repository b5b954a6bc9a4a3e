import type { Client } from './generated/client/index.js';
import { beginExternalLogin } from './generated/index.js';
import { dataOf } from './service-client.js';
import type { Session } from './session.js';

export interface ExternalSignIn {
  /** The page to open after the sign-in: a path of the pages. */
  readonly returnTo?: string | undefined;
  /** The provider asks its user again, also one who is signed in there: for `reauthenticate({ external })`. */
  readonly fresh?: boolean;
}

/** The service tells by a cookie whether this browser has begun the sign-in. Other calls send no cookies. */
export const withCookies = { credentials: 'include' } as const;

/** The address of an identity provider, for one sign-in. A fresh sign-in is one of the user who is signed in. */
export async function externalAddress(
  client: Client,
  session: Session,
  id: string,
  { returnTo, fresh = false }: ExternalSignIn,
): Promise<string> {
  const body = { ...(returnTo !== undefined && { return_to: returnTo }), ...(fresh && { fresh }) };
  const start = (auth?: string) =>
    dataOf(beginExternalLogin({ client, path: { id }, body, ...(auth !== undefined && { auth }), ...withCookies }));
  return (await (fresh ? session.authorised(start) : start())).redirect_to;
}
