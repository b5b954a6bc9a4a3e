import type { Account, KoaContextWithOIDC } from 'oidc-provider';

import { DomainError } from '../../shared/errors/domain-error';
import { refreshTokenRejected } from '../../shared/errors/error-catalogue';
import { userStatus } from '../../users/user.entity';
import { admits } from '../application-access';
import type { Application } from '../application.entity';
import type { ProviderUser } from '../persistence/oidc-record.repository';
import type { BrowserRequest, ProviderPorts } from './ports';

/** The user, while the user is enabled and may use the application of the request. */
export async function accountOf(
  ports: ProviderPorts,
  ctx: KoaContextWithOIDC,
  uid: string,
): Promise<Account | undefined> {
  const { reads, members } = ports;
  const user = await reads.user(uid);
  if (user === null || user.status !== userStatus.enabled || user.deletedAt !== null) return undefined;
  // Whoever has a session and may not use the application gets an answer that says so (`not_admitted`).
  if (ctx.oidc.route === 'token' || ctx.oidc.route === 'userinfo') {
    const application = await reads.application(ctx.oidc.client?.clientId ?? '');
    const groups = () => members.groupsOf(user);
    if (application === null || !(await admits(application, user, groups))) return undefined;
    if (hasLostItsScope([...(ctx.oidc.entities.RefreshToken?.scopes ?? [])], application)) return undefined;
  }
  if (ctx.oidc.entities.RefreshToken !== undefined && !(await standsInDirectory(ports, ctx, user))) return undefined;
  return { accountId: user.uid, claims: (_use, scope) => claimsIn(scope, ports, user) };
}

/** A refresh token that outlives its session ends when the application loses the scope that it was made for. */
export const hasLostItsScope = (scopes: readonly string[], application: Application): boolean =>
  scopes.includes('offline_access') && !application.scopes.includes('offline_access');

/** The names of the groups are read only for an application that gets them. */
async function claimsIn(scope: string, { members }: ProviderPorts, user: ProviderUser) {
  return claimsOf(user, scope.split(' ').includes('groups') ? await members.namesOf(user) : []);
}

/**
 * A refresh of an application is a refresh of its user: the directory is asked as at `/refresh`, also for a grant that outlives its
 * session. An objection has then ended everything of the user.
 * @throws DomainError LOGIN_503001 when the directory is away for longer than the grace period
 */
async function standsInDirectory(
  { recheck }: ProviderPorts,
  ctx: KoaContextWithOIDC,
  user: ProviderUser,
): Promise<boolean> {
  const { sid, scopes } = ctx.oidc.entities.RefreshToken as { readonly sid?: string; readonly scopes: Set<string> };
  const { portalClient } = ctx.req as BrowserRequest;
  try {
    await recheck.assertStandingOf(user, scopes.has('offline_access') ? undefined : sid, portalClient!);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.entry === refreshTokenRejected) return false;
    throw error;
  }
}

/**
 * The directory vouches for the address. Or its user has used a code or a link that was mailed to it, or has signed in at an
 * identity provider that owns the domain of the address: both write the proven address.
 */
const isProven = ({ provider, emailKey, provenEmailKey }: ProviderUser): boolean =>
  provider === 'ldap' || (provenEmailKey !== null && provenEmailKey === emailKey);

/** Of each scope, `claimsOfScopes` names those that an application gets. */
export function claimsOf(user: ProviderUser, groups: readonly string[] = []) {
  return {
    sub: user.uid,
    name: user.nickname ?? user.loginName,
    preferred_username: user.loginName,
    email: user.email ?? undefined,
    email_verified: user.email === null ? undefined : isProven(user),
    tenant_id: user.tenantId,
    org_unit_id: user.orgUnitId,
    groups,
  };
}
