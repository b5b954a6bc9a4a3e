import type { ListedProvider } from './identity-provider-administration';
import type { ProviderAddresses } from '../identity-providers/provider-addresses';
import type { IdentityProviderItem } from './http/identity-providers.dto';

/** For the API and the command line. The secret is not part of it. */
export const providerView = (
  { provider, boundUsers }: ListedProvider,
  { of }: ProviderAddresses,
): IdentityProviderItem => ({
  id: provider.id,
  name: provider.name,
  issuer: provider.issuer,
  client_id: provider.clientId,
  has_client_secret: provider.clientSecret !== null,
  client_secret_expires: provider.clientSecretExpires?.toISOString() ?? null,
  scopes: provider.scopes,
  acr_values: provider.acrValues,
  domains: provider.domains,
  tenant_id: provider.tenantId,
  jit: provider.jit,
  trust_mfa: provider.trustMfa,
  claims: {
    login_name: provider.claims.login_name,
    email: provider.claims.email ?? null,
    nickname: provider.claims.nickname ?? null,
    groups: provider.claims.groups ?? null,
  },
  match_claim: provider.matchClaim,
  listed: provider.listed,
  enabled: provider.enabled,
  bound_users: boundUsers,
  ...of(provider.id),
  created_at: provider.createdAt.toISOString(),
  changed_at: provider.changedAt.toISOString(),
});
