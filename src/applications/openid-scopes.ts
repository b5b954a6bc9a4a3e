/**
 * The scopes that the provider offers, with the claims of each (docs/spec/extensions.md#j). Applications may have others,
 * for their resources.
 */
export const claimsOfScopes = {
  openid: ['sub', 'sid', 'auth_time', 'amr', 'acr'],
  profile: ['name', 'preferred_username'],
  email: ['email', 'email_verified'],
  organization: ['tenant_id', 'org_unit_id'],
  groups: ['groups'],
  offline_access: [],
} as const;

export const offeredScopes = Object.keys(claimsOfScopes);
