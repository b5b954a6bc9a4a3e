import { identityKey } from './identity-key';

/** The columns of `identityKey` hold so many characters. It can be longer than the address: NFKC expands ligatures. */
const longestKey = 255;

const localPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domain =
  /^[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u;

/**
 * Accepts one plain address: the dot-atom form of RFC 5321 with the letters of RFC 6531. It refuses lists, groups,
 * names, comments, quotes, routes, domain literals and line breaks, so that no parser reads another mailbox in the text
 * (docs/spec/attacks.md#w57).
 */
export function isPlainAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 254) return false;
  const at = value.lastIndexOf('@');
  const [local, host] = [value.slice(0, at), value.slice(at + 1)];
  // The look-up of a host name applies NFKC. If NFKC changes the name, the look-up would find another host.
  const wellFormed =
    at > 0 && local.length <= 64 && localPart.test(local) && domain.test(host) && host.normalize('NFKC') === host;
  return wellFormed && identityKey(value).length <= longestKey;
}

/** Returns null for a stored text that is not an address. Older versions stored addresses without this check. */
export function usableAddress(stored: string | null): string | null {
  return isPlainAddress(stored) ? stored : null;
}

/** Masks `alice@example.com` as `a•••@example.com`, so that its owner can still recognise the address. */
export function maskedAddress(email: string | null): string | null {
  if (email === null) return null;
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${at === -1 ? '' : email.slice(at)}`;
}

/** The only part of an address that may be logged. */
export function domainOf(address: string): string {
  return isPlainAddress(address) ? address.slice(address.lastIndexOf('@') + 1).toLowerCase() : 'not an address';
}

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Parses `no-reply@example.com` or `Portal <no-reply@example.com>`. Returns undefined for any other text. */
export function mailboxOf(text: string): Mailbox | undefined {
  const named = /^"?([^"<>\p{Cc}]*?)"?\s*<([^<>\s]+)>$/u.exec(text.trim());
  const [name, address] = named === null ? ['', text.trim()] : [named[1]!.trim(), named[2]!];
  return isPlainAddress(address) ? { name, address } : undefined;
}
