import { decodeJwt } from 'jose';
import { ExternalIdentities } from '../../src/identity-providers/external-identities.repository';
import { ExternalSessions } from '../../src/identity-providers/external-sessions.repository';
import type { TestService } from './app';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Sends a logout token to the service, as the provider does. */
export const tellLogout = (service: TestService, fields: Record<string, string>, provider = 'acme') =>
  service.post(`/login/external/${provider}/backchannel-logout`, new URLSearchParams(fields).toString(), {
    headers: form,
  });

/** A user who is bound to a `sub` of the provider. */
export async function givenBound(service: TestService, name: string, sub = `sub-of-${name}`, provider = 'acme') {
  const user = await service.givenUser(name);
  const bound = await service.app
    .get(ExternalIdentities, { strict: false })
    .bind(service.database, provider, sub, user.uid);
  if (!bound) throw new Error(`${sub} is bound already`);
  return { ...user, sub };
}

/** A session of this user that began at the provider, in its session `providerSid`. */
export async function externalSession(
  service: TestService,
  loginName: string,
  providerSid?: string,
  provider = 'acme',
) {
  const tokens = await service.session(loginName);
  const { sid, sub: userId = '' } = decodeJwt<{ sid: string }>(tokens.access);
  const subject = `sub-of-${loginName}`;
  const begun = { sid, userId, identityProviderId: provider, subject, providerSid };
  await service.app.get(ExternalSessions, { strict: false }).begin(service.database, begun);
  return { ...tokens, sid };
}
