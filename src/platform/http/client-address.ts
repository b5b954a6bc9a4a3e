import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { CidrRange } from '../config/http-settings';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Characters of the header that are read, from its right end. No chain of trusted proxies writes more. */
const longestChain = 2048;

/**
 * Returns the canonical address of the client (docs/spec/attacks.md#w13). It is the peer of the socket, unless the peer
 * is a trusted proxy. Then it is the rightmost address of X-Forwarded-For that is not a trusted proxy, or the leftmost
 * one if all are. The client wrote everything to the left of that address, so it is not read. If an entry that is read
 * is not an address, the whole header is ignored, so that a malformed entry cannot bypass a check (CVE-2024-47070).
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly CidrRange[],
): string {
  const socket = parse(peer ?? '');
  if (socket === undefined) return '0.0.0.0';
  const hops = (forwardedFor ?? '').slice(-longestChain).split(',');
  let address = socket;
  while (isTrusted(address, trusted) && hops.length > 0) {
    const hop = parseHop(hops.pop()!.trim());
    if (hop === undefined) return socket.toString();
    address = hop;
  }
  return address.toString();
}

/** Whether the peer of a socket is a trusted proxy. */
export function isTrustedPeer(peer: string | undefined, trusted: readonly CidrRange[]): boolean {
  const address = parse(peer ?? '');
  return address !== undefined && isTrusted(address, trusted);
}

/**
 * An entry may have the port of the client behind it, as Azure Application Gateway writes it: `203.0.113.7:52311`, `[2001:db8::1]:443`.
 * Without brackets the end of an IPv6 address is a group of it, and no port.
 */
function parseHop(entry: string): Address | undefined {
  const [, ipv4, ipv6, port = '0'] = /^(?:([\d.]+)(?=:)|\[([^\]]+)\])(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (Number(port) > 65_535) return undefined;
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? parse(ipv6) : undefined;
  return parse(ipv4 ?? entry);
}

/** IPv4-mapped IPv6 becomes IPv4. A text with a zone, a port or an octal part is not an address. */
function parse(text: string): Address | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text);
}

function isTrusted(address: Address, trusted: readonly CidrRange[]): boolean {
  return trusted.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}
