import { isIP } from 'node:net';
import { bareHost } from '../platform/http/address-kind';
import type { SettingsReader } from '../platform/config/settings-reader';
import { urlOf } from '../shared/url-text';

export abstract class ProviderAddressSettings {
  /**
   * Hosts with addresses of a private network, in small letters and without brackets, that the document of an identity
   * provider may name beside the host of its issuer (docs/spec/extensions.md#k).
   */
  abstract readonly allowedHosts: readonly string[];
}

/** The provider that another setting names. `doctor` and `POST /admin/checks` say when it is missing. */
export abstract class RequiredProviderSettings {
  /** Where the users that SCIM makes sign in. Null: no setting names a provider. */
  abstract readonly providerId: string | null;
}

export function readProviderAddressSettings(env: SettingsReader): ProviderAddressSettings {
  const hosts = env.list('IDP_ALLOWED_HOSTS').map((host) => bareHost(host.toLowerCase()));
  if (!hosts.every(isHost)) {
    env.problem(
      'IDP_ALLOWED_HOSTS',
      'must be names or addresses of hosts, such as keys.example.com: no URL, no port, no *',
    );
  }
  return { allowedHosts: hosts };
}

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** The form that a URL gives its host, so that both can be compared. */
function isHost(host: string): boolean {
  if (isIP(host) === 6) return bareHost(new URL(`https://[${host}]`).hostname) === host;
  const url = `https://${host}/`;
  return host.split('.').every((part) => label.test(part)) && urlOf(url)?.hostname === host;
}
