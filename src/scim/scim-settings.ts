import type { SettingsReader } from '../platform/config/settings-reader';
import type { Provider } from '../users/user.entity';

/** Users and groups by SCIM 2.0 (docs/spec/extensions.md#l). */
export abstract class ScimSettings {
  /** Undefined with `SCIM=off`. */
  abstract readonly scim: ScimProvisioning | undefined;
}

export interface ScimProvisioning {
  /** Where the users that SCIM makes sign in. */
  readonly provider: Provider;
  /** With `oidc`: the identity provider; otherwise null. */
  readonly identityProvider: string | null;
}

export function readScimSettings(env: SettingsReader, { ldap }: { readonly ldap: unknown }): ScimSettings {
  env.mention('SCIM_USER_PROVIDER', 'SCIM_IDENTITY_PROVIDER');
  if (env.choice('SCIM', ['on', 'off'], 'off') === 'off') return { scim: undefined };
  const provider = env.choice('SCIM_USER_PROVIDER', ['password', 'oidc', 'ldap'], 'password');
  const identityProvider = env.optional('SCIM_IDENTITY_PROVIDER') ?? null;
  if (provider === 'ldap' && ldap === undefined) {
    env.problem('SCIM_USER_PROVIDER', 'is ldap, and there is no directory: set LDAP_URL');
  }
  if (provider === 'oidc' && identityProvider === null) {
    env.problem('SCIM_IDENTITY_PROVIDER', 'is required with SCIM_USER_PROVIDER=oidc');
  }
  if (provider !== 'oidc' && identityProvider !== null) {
    env.problem('SCIM_IDENTITY_PROVIDER', 'needs SCIM_USER_PROVIDER=oidc');
  }
  if (identityProvider !== null && !/^[a-z0-9-]{1,40}$/.test(identityProvider)) {
    env.problem(
      'SCIM_IDENTITY_PROVIDER',
      'must be the id of an identity provider: a-z, 0-9 and -, at most 40 characters',
    );
  }
  return { scim: { provider, identityProvider } };
}
