import { decodeJwt } from 'jose';
import { ExternalIdentities } from '../../src/identity-providers/external-identities.repository';
import { ExternalSessions } from '../../src/identity-providers/external-sessions.repository';
import { externalCookie } from '../../src/identity-providers/external-requests';
import { ExternalSignIns } from '../../src/identity-providers/external-sign-ins.repository';
import { cookieName } from '../../src/platform/http/browser-cookie';
import { AppConfig } from '../../src/settings/app-config';
import type { Request, TestService } from './app';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Sends a logout token to the service, as the provider does. */
export const tellLogout = (service: TestService, fields: Record<string, string>, provider = 'acme') =>
  service.post(`/login/external/${provider}/backchannel-logout`, new URLSearchParams(fields).toString(), {
    headers: form,
  });

/** A user who is bound to a `sub` of the provider. */
export async function givenBound(service: TestService, name: string) {
  const sub = `sub-of-${name}`;
  const user = await service.givenUser(name);
  const bound = await service.app
    .get(ExternalIdentities, { strict: false })
    .bind(service.database, 'acme', sub, user.uid);
  if (!bound) throw new Error(`${sub} is bound already`);
  return { ...user, sub };
}

/** A session of this user that began at the provider, in its session `providerSid`. */
export async function externalSession(service: TestService, loginName: string, providerSid?: string) {
  const tokens = await service.session(loginName);
  const { sid, sub: userId = '' } = decodeJwt<{ sid: string }>(tokens.access);
  const subject = `sub-of-${loginName}`;
  const begun = { sid, userId, identityProviderId: 'acme', subject, providerSid };
  await service.app.get(ExternalSessions, { strict: false }).begin(service.database, begun);
  return { ...tokens, sid };
}

/** From now on the user signs in at the provider. */
export const signsInAt = (service: TestService, uid: string) =>
  service.database.affected("UPDATE users SET provider = 'oidc', identity_provider_id = 'acme' WHERE uid = ?", [uid]);

/**
 * The user has come back from the provider, which has asked again, in its session `sid`.
 * @returns a request of the browser, which redeems `code` at `/user/reauthenticate`, or with `login` at `/login/external`
 */
export async function freshSignIn(
  service: TestService,
  { uid, sub }: { readonly uid: string; readonly sub: string },
  { code, sid, login = false }: { readonly code: string; readonly sid: string; readonly login?: boolean },
): Promise<Request> {
  const signIns = service.app.get(ExternalSignIns, { strict: false });
  const browser = 'b'.repeat(43);
  const begun = { identityProviderId: 'acme', nonce: 'n', verifier: 'v', scopes: [], acrValues: [], beganAt: 0 };
  await signIns.begin(code, browser, { ...begun, returnTo: undefined, confirms: login ? undefined : uid });
  await signIns.take(code, browser, 'acme');
  const person = { loginName: null, email: null, nickname: null, externalId: null, groups: null };
  await signIns.answer(service.database, code, code, uid, { sub, sid, mfa: false, askedAt: undefined, person });
  return { headers: { cookie: `${cookieName(service.app.get(AppConfig).systemUrl, externalCookie)}=${browser}` } };
}
