import type { Application } from '../applications/application.entity';
import type { ApplicationItem } from './http/applications.dto';

/** For the API and the command line. The hashes of the secrets are not part of it. */
export const applicationView = (row: Application): ApplicationItem => ({
  id: row.id,
  name: row.name,
  type: row.type,
  redirect_uris: row.redirectUris,
  post_logout_redirect_uris: row.postLogoutRedirectUris,
  backchannel_logout_uri: row.backchannelLogoutUri,
  scopes: row.scopes,
  audience: row.audience,
  first_party: row.firstParty,
  allowed_tenants: row.allowedTenants,
  allowed_groups: row.allowedGroups,
  logo_url: row.logoUrl,
  uri: row.uri,
  enabled: row.enabled,
  old_secret_expires_at: row.oldSecretExpires?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  changed_at: row.changedAt.toISOString(),
});
