import type { AdapterPayload, Client } from 'oidc-provider';
import type { Application, ApplicationType } from '../application.entity';
import { offeredScopes } from '../openid-scopes';

const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code';

const grants: Readonly<Record<ApplicationType, readonly string[]>> = {
  web: ['authorization_code', 'refresh_token'],
  spa: ['authorization_code', 'refresh_token'],
  native: ['authorization_code', 'refresh_token', deviceCode],
  service: ['client_credentials'],
};

/** What the package knows of an application (OpenID Registration §2). Undefined: it may not be used. */
export function metadataOf(application: Application | null): AdapterPayload | undefined {
  if (application === null || !application.enabled) return undefined;
  const { id, name, type, secretHash, redirectUris, postLogoutRedirectUris, scopes, backchannelLogoutUri } =
    application;
  const confidential = type === 'web' || type === 'service';
  if (confidential && secretHash === null) return undefined;
  // A device has no address to return to.
  const redirects = type !== 'service' && redirectUris.length > 0;
  // The other scopes are those of its resources.
  const own = scopes.filter((scope) => offeredScopes.includes(scope));
  return {
    client_id: id,
    client_name: name,
    // The secret is not known. `Client.compareClientSecret` is replaced, and nothing else uses this value.
    client_secret: confidential ? (secretHash ?? undefined) : undefined,
    token_endpoint_auth_method: confidential ? 'client_secret_basic' : 'none',
    application_type: type === 'native' ? 'native' : 'web',
    grant_types: grants[type].filter((grant) => redirects || grant !== 'authorization_code'),
    response_types: redirects ? ['code'] : [],
    redirect_uris: redirects ? redirectUris : [],
    post_logout_redirect_uris: postLogoutRedirectUris,
    scope: own.join(' ') || undefined,
    ...(backchannelLogoutUri === null
      ? {}
      : { backchannel_logout_uri: backchannelLogoutUri, backchannel_logout_session_required: true }),
  };
}

/**
 * Whether a sign-in still leads to an address of the application. The package compares the redirect URI only when a sign-in
 * begins, and an administrator may have removed it since. The sign-in of a device has none.
 */
export const leadsBack = (client: Client, { redirect_uri: uri }: Readonly<Record<string, unknown>>): boolean =>
  typeof uri !== 'string' || client.redirectUriAllowed(uri);
