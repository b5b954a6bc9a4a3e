import ipaddr from 'ipaddr.js';

/**
 * An address that is kept for long: the network of an organisation or a provider, and no longer one of a person. Of IPv4 the first
 * 24 bits are left, of IPv6 the first 48, in the form of an address. Any other text is returned unchanged.
 */
export function shortenedAddress(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  const bytes = address.toByteArray();
  const kept = bytes.length === 4 ? 3 : 6;
  return ipaddr.fromByteArray(bytes.map((byte, n) => (n < kept ? byte : 0))).toString();
}

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
