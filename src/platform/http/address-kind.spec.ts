import { isLoopbackHost, kindOf } from './address-kind';

describe('what kind of address it is', () => {
  it.each([
    ...['169.254.169.254', '169.254.0.1', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe'],
    ...['::169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
    ...['0.0.0.0', '0.0.0.7', '::', '::7', '::ffff:0.0.0.0', '255.255.255.255', '224.0.0.1', 'ff02::1'],
  ])('never: %s (T504, T520)', (address) => expect(kindOf(address)).toBe('never'));

  it.each([
    ...['10.0.0.1', '192.168.1.1', '172.16.0.1', '127.0.0.1', '127.9.9.9', '::1', 'fd12::1', '::ffff:10.0.0.1'],
    ...[
      '::ffff:127.0.0.1',
      '64:ff9b::a00:1',
      '::10.0.0.1',
      '100.64.0.1',
      '198.18.0.1',
      '240.0.0.1',
      '2002:a00:1::',
      'fec0::1',
    ],
  ])('of this machine or a private network: %s (T521)', (address) => expect(kindOf(address)).toBe('inner'));

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    'public: %s',
    (address) => expect(kindOf(address)).toBe('public'),
  );

  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['[::1]', true],
    ['127.0.0.1.example.com', false],
    ['10.0.0.1', false],
    ['0.0.0.0', false],
  ])('%s is this machine: %s', (host, expected) => expect(isLoopbackHost(host)).toBe(expected));
});
