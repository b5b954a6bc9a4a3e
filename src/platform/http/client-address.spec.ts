import { networkOf } from '../../shared/client-network';
import { testSettings } from '../../../test/support/settings';
import { loadConfig } from '../../settings/app-config';
import { clientAddress } from './client-address';

const trusting = (ranges: string) => loadConfig({ ...testSettings, TRUSTED_PROXIES: ranges }).http.trustedProxies;

const proxies = trusting('10.0.0.0/8, 192.0.2.7, fd00::/8');

describe('the client address (docs/spec/attacks.md#w13)', () => {
  it.each([
    ['203.0.113.5', '203.0.113.5'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
    ['::FFFF:CB00:7105', '203.0.113.5'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', '0.0.0.0'],
    [undefined, '0.0.0.0'],
  ])('for the peer %j without a header is %s', (peer, address) => {
    expect(clientAddress(peer, undefined, [])).toBe(address);
  });

  it('is the peer if there are no trusted proxies, whatever the header says (T045)', () => {
    expect(clientAddress('203.0.113.5', '1.2.3.4', [])).toBe('203.0.113.5');
  });

  it('is the peer if the peer is not a trusted proxy, whatever header it sends', () => {
    expect(clientAddress('203.0.113.5', '1.2.3.4, 10.0.0.1', proxies)).toBe('203.0.113.5');
  });

  it.each([
    ['one proxy', '10.0.0.1', '198.51.100.9', '198.51.100.9'],
    ['a chain of them', '10.0.0.1', '198.51.100.9, 192.0.2.7, 10.9.9.9', '198.51.100.9'],
    ['a forged hop in front', '10.0.0.1', '1.2.3.4, 198.51.100.9', '198.51.100.9'],
    ['a forged hop that names a proxy', '10.0.0.1', '10.0.0.66, 198.51.100.9', '198.51.100.9'],
    ['a forged hop that is no address', '10.0.0.1', 'not-an-ip, 198.51.100.9', '198.51.100.9'],
    ['a forged hop of 10 kB', '10.0.0.1', `${'9'.repeat(10_000)}, 198.51.100.9`, '198.51.100.9'],
    ['10 kB of forged hops', '10.0.0.1', `${'1.2.3.4, '.repeat(1200)}198.51.100.9`, '198.51.100.9'],
    ['proxies only, of which the leftmost counts', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a peer in the mapped form', '::ffff:10.0.0.1', '198.51.100.9', '198.51.100.9'],
    ['a hop in the mapped form', '10.0.0.1', '::ffff:198.51.100.9', '198.51.100.9'],
    ['a proxy in the mapped form', '10.0.0.1', '198.51.100.9, ::ffff:10.0.0.2', '198.51.100.9'],
    ['IPv6', 'fd00::1', '2001:DB8::0:9', '2001:db8::9'],
    ['hops with and without spaces', '10.0.0.1', '198.51.100.9,10.0.0.2,   10.0.0.3', '198.51.100.9'],
    ['a port, as Azure Application Gateway writes it', '10.0.0.1', '198.51.100.9:52311', '198.51.100.9'],
    ['IPv6 in brackets with a port', 'fd00::1', '[2001:DB8::0:9]:443', '2001:db8::9'],
    ['IPv6 in brackets', 'fd00::1', '[2001:db8::9]', '2001:db8::9'],
    ['the mapped form in brackets with a port', '10.0.0.1', '[::ffff:198.51.100.9]:65535', '198.51.100.9'],
    ['a chain of proxies with ports', '10.0.0.1', '198.51.100.9:1, [fd00::2]:443, 10.0.0.2:80', '198.51.100.9'],
    ['a forged hop with a port in front', '10.0.0.1', '10.0.0.66:80, 198.51.100.9:52311', '198.51.100.9'],
    ['a forged hop in front of the port of IPv6', 'fd00::1', '[fd00::66]:80, [2001:db8::9]:443', '2001:db8::9'],
    // Without brackets nobody can tell a port from a group of the address.
    ['IPv6 without brackets, which has no port', 'fd00::1', '2001:db8::9:443', '2001:db8::9:443'],
  ])('is read from the right end of X-Forwarded-For: %s', (_what, peer, header, address) => {
    expect(clientAddress(peer, header, proxies)).toBe(address);
  });

  it.each([
    'not-an-ip',
    '',
    ' ',
    ',',
    '1.2.3.4, ,',
    '1.2.3.4, unknown',
    ...['1.2.3.4:', '1.2.3.4:65536', '1.2.3.4:123456', '1.2.3.4:-1', '1.2.3.4:0x50', '1.2.3.4:80:80', '1.2.3.4 :80'],
    ...['1.2.3:80', '01.2.3.4:80', '1.2.3.4:8\u0660', ':80', '[1.2.3.4]', '[1.2.3.4]:80', '[]', '[]:80'],
    ...[
      '[2001:db8::1',
      '2001:db8::1]',
      '2001:db8::1]:443',
      '[2001:db8::1]443',
      '[2001:db8::1]:',
      '[2001:db8::1]:99999',
    ],
    ...['[[2001:db8::1]]', '[2001:db8::1]:443x', '[fe80::1%eth0]:443', '[fe80::1%eth0]', '2001:db8:0:0:0:0:0:1:443'],
    ...['1.2.3.4:80, unknown:80', '"[2001:db8::1]:443"', '[2001:db8::1] :443', '[not-an-ip]:443', 'example.com:80'],
    '::ffff:1.2.3.4%eth0',
    'fe80::1%25eth0',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '::ffff:1.2.3.04',
    '0x1.2.3.4',
    '16909060',
    '1.2.3.256',
    '1.2.3.4/32',
    'for=1.2.3.4',
    '\u0661.2.3.4',
    '1.2.3.4\u0000',
    '9'.repeat(10_000),
  ])('is the peer if the entry %j is not an address (T046)', (header) => {
    expect(clientAddress('10.0.0.1', header, proxies)).toBe('10.0.0.1');
  });

  it('is the IPv4 peer also if the trusted range ::/0 contains its IPv6-mapped form', () => {
    expect(clientAddress('198.51.100.9', '1.2.3.4', trusting('::/0'))).toBe('198.51.100.9');
  });
});

describe('the network by which rate limits and shares of the hash queue are counted (T048)', () => {
  it('is the same for all addresses of a /64', () => {
    const keys = Array.from({ length: 40 }, (_, n) =>
      networkOf(clientAddress(`2001:db8:1:2:${n.toString(16)}::${n}`, undefined, [])),
    );
    expect(new Set(keys)).toEqual(new Set(['2001:db8:1:2::/64']));
    expect(networkOf('2001:db8:1:3::1')).not.toBe(keys[0]);
  });

  it('is the same for all spellings of an address', () => {
    const spellings = [
      '2001:db8::1',
      '2001:DB8::1',
      '2001:0db8::0001',
      '2001:db8:0:0:0:0:0:1',
      '2001:db8::0.0.0.1',
      '2001:0DB8:0000:0000::1',
    ];
    expect(new Set(spellings.map((one) => networkOf(clientAddress(one, undefined, []))))).toHaveProperty('size', 1);
  });

  it('is the address itself for IPv4, also if it is mapped to IPv6', () => {
    expect(['203.0.113.5', '::ffff:203.0.113.5'].map((one) => networkOf(clientAddress(one, undefined, [])))).toEqual([
      '203.0.113.5',
      '203.0.113.5',
    ]);
  });
});
