import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/**
 * `never`: no service of a company has such an address. Only the machine or its link answers there: the metadata service of a
 * cloud gives its credentials to everybody who asks from the machine. `inner`: of the machine or of a private network.
 */
export type AddressKind = 'public' | 'inner' | 'never';

/** Metadata services outside the link-local ranges: of AWS, Google (by IPv6), Alibaba, Oracle and Azure. */
const metadata = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '192.0.0.192', '168.63.129.16']);

/** Broadcast, multicast, and the addresses that mean every address of this machine. */
const neverRanges = new Set(['linkLocal', 'unspecified', 'broadcast', 'multicast']);

/** @param address an IP address, without brackets */
export function kindOf(address: string): AddressKind {
  const parsed = embedded(ipaddr.process(withoutZone(address)));
  const range = parsed.range();
  if (neverRanges.has(range) || metadata.has(parsed.toString())) return 'never';
  // All of 0.0.0.0/8 and ::/96 mean this machine on some systems, and nobody has them.
  if (parsed.kind() === 'ipv4' && (parsed as ipaddr.IPv4).octets[0] === 0) return 'never';
  return range === 'unicast' ? 'public' : 'inner';
}

export const isNever = (address: string): boolean => kindOf(address) === 'never';

export const isLoopback = (address: string): boolean => ipaddr.process(withoutZone(address)).range() === 'loopback';

/** `localhost`, or a loopback address. The name of a URL has brackets around an IPv6 address. */
export function isLoopbackHost(host: string): boolean {
  const bare = bareHost(host);
  return bare === 'localhost' || (isIP(bare) !== 0 && isLoopback(bare));
}

export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '');

const withoutZone = (address: string): string => address.replace(/%.*$/, '');

/** The IPv4 address that an IPv6 address leads to (RFC 6052, and the compatible form of RFC 4291). Others stay. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const { parts } = address as ipaddr.IPv6;
  const compatible = parts.slice(0, 6).every((part) => part === 0);
  if (['loopback', 'unspecified'].includes(address.range()) || !(compatible || address.range() === 'rfc6052'))
    return address;
  const [high = 0, low = 0] = parts.slice(6);
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}
