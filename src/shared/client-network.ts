import ipaddr from 'ipaddr.js';

/**
 * What belongs to one client: an IPv4 address, or the /64 that an IPv6 client chooses its address from (T048). Limits and
 * the turns of the hash queue are counted by it, so that no client multiplies its share by changing its address.
 * @param ip a canonical address, as in `ClientInfo`; any other text is returned as it is
 */
export function networkOf(ip: string): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip;
  const groups = ipaddr.IPv6.parse(ip).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
