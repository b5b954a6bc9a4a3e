import type { GroupOfUser } from '../groups/group-members';
import type { LiveSession } from '../sessions/live-sessions';
import type { User } from '../users/user.entity';
import { admits } from './application-access';
import type { Application } from './application.entity';
import { claimsOf } from './openid/account';
import { authenticationOf } from './openid/demands';
import { claimsOfScopes } from './openid-scopes';

export interface ClaimsPreview {
  /** Whether the user may use the application. Otherwise a sign-in ends with `access_denied`. */
  readonly allowed: boolean;
  /** Of the ID token, except those of its moment: `iat`, `exp`, `nonce`. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly userinfo: Readonly<Record<string, unknown>>;
}

interface SignedInUser {
  readonly user: User;
  readonly sid: string;
  readonly live: LiveSession;
  readonly groups: readonly GroupOfUser[];
}

/**
 * What the application would learn about the user of a session with all of its scopes. Nothing is issued and nothing is
 * stored, so no redirect URI of the application has to lead here. `test/spec/application-claims` compares it with a sign-in.
 */
export async function previewClaims(
  application: Application,
  { user, sid, live, groups }: SignedInUser,
  issuer?: string,
): Promise<ClaimsPreview> {
  const { ts, ...authentication } = authenticationOf(live);
  const { sub, ...others } = claimsOf(user, groups.map(({ name }) => name).sort());
  const names = new Set<string>(
    Object.entries(claimsOfScopes).flatMap(([scope, claims]) => (application.scopes.includes(scope) ? claims : [])),
  );
  const known = Object.entries(others).filter(([name, value]) => names.has(name) && value !== undefined);
  return {
    allowed: await admits(application, user, () => Promise.resolve(groups)),
    claims: { iss: issuer, sub, aud: application.id, sid, auth_time: ts, ...authentication },
    userinfo: { sub, ...Object.fromEntries(known) },
  };
}
