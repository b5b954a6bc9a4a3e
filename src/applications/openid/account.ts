import type { Account, KoaContextWithOIDC } from 'oidc-provider';

import { type User, userStatus } from '../../users/user.entity';
import { admits } from '../application-access';
import type { ProviderPorts } from './ports';

/** The user, while the user is enabled and may use the application of the request. */
export async function accountOf(
  { users, applications }: ProviderPorts,
  ctx: KoaContextWithOIDC,
  uid: string,
): Promise<Account | undefined> {
  const user = await users.findByUid(uid);
  if (user === null || user.status !== userStatus.enabled || user.deletedAt !== null) return undefined;
  // Whoever has a session and may not use the application gets an answer that says so (`not_admitted`).
  if (ctx.oidc.route === 'token' || ctx.oidc.route === 'userinfo') {
    const application = await applications.find(ctx.oidc.client?.clientId ?? '');
    if (application === null || !admits(application, user)) return undefined;
  }
  return { accountId: user.uid, claims: () => claimsOf(user) };
}

function claimsOf(user: User) {
  return {
    sub: user.uid,
    name: user.nickname ?? user.loginName,
    preferred_username: user.loginName,
    email: user.email ?? undefined,
    email_verified: user.email === null ? undefined : user.provider === 'ldap',
    tenant_id: user.tenantId,
    org_unit_id: user.orgUnitId,
  };
}
