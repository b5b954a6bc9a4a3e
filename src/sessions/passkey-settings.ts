import { isIP } from 'node:net';
import type { SettingsReader } from '../platform/config/settings-reader';

/** The service as WebAuthn sees it. */
export interface RelyingParty {
  /** The RP id: the domain that passkeys belong to. */
  readonly rpId: string;
  /** The only origin whose pages may register and use passkeys. */
  readonly origin: string;
}

export abstract class PasskeySettings {
  /** Undefined: no passkeys. */
  abstract readonly passkeys: RelyingParty | undefined;
}

export function readPasskeySettings(env: SettingsReader, systemUrl: string): PasskeySettings {
  return { passkeys: readRelyingParty(env, systemUrl) };
}

/**
 * Undefined: the service has no passkeys, because `PASSKEYS` is off or the host of `SYSTEM_URL` is an IP address, which
 * WebAuthn does not accept as an RP id (docs/spec/extensions.md#b).
 */
function readRelyingParty(env: SettingsReader, systemUrl: string): RelyingParty | undefined {
  const on = env.choice('PASSKEYS', ['on', 'off'], 'on') === 'on';
  const configured = env.optional('PASSKEY_RP_ID');
  // SYSTEM_URL is wrong, which the reader has noted.
  if (systemUrl === '') return undefined;
  const { hostname: host, origin } = new URL(systemUrl);
  if (configured !== undefined && !isDomainOf(configured, host)) {
    env.problem('PASSKEY_RP_ID', 'must be the host name of SYSTEM_URL or a domain above it, such as example.com');
  }
  return on && !isAddress(host) ? { rpId: configured ?? host, origin } : undefined;
}

/** Browsers refuse any other RP id on the pages of this host. The form of the host is the one that browsers compare. */
function isDomainOf(rpId: string, host: string): boolean {
  if (isAddress(host)) return false;
  // A top-level domain belongs to no site. `localhost` is the only host with one part.
  return rpId === host || (rpId.includes('.') && host.endsWith(`.${rpId}`) && !rpId.startsWith('.'));
}

/** `hostname` has an IPv6 address in brackets. */
function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0;
}
