import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { CidrRange } from '../config/http-config';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** More than any chain of proxies writes; what a client put further to the left is not looked at anyway. */
const longestChain = 2048;

/**
 * The client's canonical address: the socket peer, unless that is a trusted proxy; then X-Forwarded-For is walked from
 * the right, hop by hop, to the first address that is not trusted. What stands left of that is the client's own text and
 * has no say, parsable or not; where the walk itself meets something that is no address, the header is ignored. So it
 * never skips a check (CVE-2024-47070), and no client chooses its address, be it the proxy's (W13).
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
    const hop = parse(hops.pop()!.trim());
    if (hop === undefined) return socket.toString();
    address = hop;
  }
  return address.toString();
}

/** IPv4-mapped IPv6 is the IPv4 address; a zone, a port or an octal part is no address. */
function parse(text: string): Address | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text);
}

function isTrusted(address: Address, trusted: readonly CidrRange[]): boolean {
  return trusted.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}
