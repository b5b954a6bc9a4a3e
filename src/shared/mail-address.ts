const localPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domain =
  /^[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u;

/**
 * One plain address (the dot-atom form of RFC 5321, letters of RFC 6531 included) and nothing else: no list, group, name,
 * comment, quotes, route, domain literal or line break, so that no parser can read another mailbox into it (W57).
 */
export function isPlainAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 254) return false;
  const at = value.lastIndexOf('@');
  const [local, host] = [value.slice(0, at), value.slice(at + 1)];
  // A host that NFKC changes would be another host by the time it is looked up.
  return at > 0 && local.length <= 64 && localPart.test(local) && domain.test(host) && host.normalize('NFKC') === host;
}

/** Null also for a text that was stored before this validator judged every way in: no mail can go to it. */
export function usableAddress(stored: string | null): string | null {
  return isPlainAddress(stored) ? stored : null;
}

/** All that a log line says of a recipient. */
export function domainOf(address: string): string {
  return isPlainAddress(address) ? address.slice(address.lastIndexOf('@') + 1).toLowerCase() : 'not an address';
}

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** `no-reply@example.com` or `Portal <no-reply@example.com>`; undefined for anything else. */
export function mailboxOf(text: string): Mailbox | undefined {
  const named = /^"?([^"<>\p{Cc}]*?)"?\s*<([^<>\s]+)>$/u.exec(text.trim());
  const [name, address] = named === null ? ['', text.trim()] : [named[1]!.trim(), named[2]!];
  return isPlainAddress(address) ? { name, address } : undefined;
}
