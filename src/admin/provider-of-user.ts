import type { IdentityProviderChanges } from '../identity-providers/identity-provider-changes';
import type { Transaction } from '../platform/database/database';
import { AccountProblem } from '../users/user-accounts';
import type { User } from '../users/user.entity';
import { isWithin } from './admin-scope';
import type { Authority } from './authority';

/**
 * Holds the row of the identity provider that the user gets, so that it is not deleted meanwhile (see
 * IdentityProviderChanges.hold). For the administrator of a tenant, providers of other tenants do not exist.
 * @throws AccountProblem COMMON_400001 when there is no such provider
 */
export async function assertProviderOf(
  tx: Transaction,
  providers: IdentityProviderChanges,
  by: Authority,
  { identityProviderId: id = null }: Partial<Pick<User, 'identityProviderId'>>,
): Promise<void> {
  if (id === null) return;
  const provider = await providers.hold(tx, id);
  // The operator has chosen the provider of SCIM (`SCIM_IDENTITY_PROVIDER`), for every tenant.
  const isOffered = by.provisioning === true || (provider !== null && isWithin(by.scope, provider.tenantId));
  if (provider !== null && isOffered) return;
  throw new AccountProblem(`there is no identity provider ${JSON.stringify(id)}`, 'identity_provider');
}
