import ipaddr from 'ipaddr.js';

/**
 * The network of one client: an IPv4 address, or the /64 within which an IPv6 client can choose its address. Rate
 * limits and the hash queue count per network, so a client gains nothing by changing its address
 * (docs/spec/attacks.md#t048).
 * @param ip a canonical address, as in `ClientInfo`. Any other text is returned unchanged.
 */
export function networkOf(ip: string): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip;
  const groups = ipaddr.IPv6.parse(ip).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
