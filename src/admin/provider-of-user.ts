import type { IdentityProviderChanges } from '../identity-providers/identity-provider-changes';
import type { IdentityProviders } from '../identity-providers/identity-providers.repository';
import type { Transaction } from '../platform/database/database';
import { notPermitted } from '../shared/errors/error-catalogue';
import { AccountProblem } from '../users/user-accounts';
import type { User } from '../users/user.entity';
import { isWithin } from './admin-scope';
import { type Authority, rulesAdministrators } from './authority';

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

/**
 * `external_id` names the person who gets the account at the first sign-in (`match_claim`). With a user of a provider that
 * several tenants share, the administrator of one tenant would bring a person of another one into the own tenant.
 * @throws AccountProblem AUTH_403001 for a user of a provider that does not exist for the caller
 */
export async function assertMayIdentify(
  tx: Transaction,
  providers: IdentityProviders,
  by: Authority,
  { identityProviderId: id }: Pick<User, 'identityProviderId'>,
): Promise<void> {
  if (rulesAdministrators(by) || id === null) return;
  const provider = await providers.find(id, tx);
  if (provider !== null && isWithin(by.scope, provider.tenantId)) return;
  throw new AccountProblem(
    'only administrators of the root tenant change the external_id of a user of a provider of another tenant',
    notPermitted,
  );
}
