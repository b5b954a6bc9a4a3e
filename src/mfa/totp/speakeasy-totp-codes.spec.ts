import { generateSecret, generateSync } from 'otplib';
import { create } from 'qrcode';
import { SystemRandom } from '../../shared/random';
import { SpeakeasyTotpCodes } from './speakeasy-totp-codes';

const random = new SystemRandom();
const withWindow = (window: number) => new SpeakeasyTotpCodes(random, { issuer: 'Portal', window });
const at = (seconds: number) => new Date(seconds * 1000);

/** The shared secret of RFC 6238 Appendix B for SHA-1, "12345678901234567890", in Base32. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** RFC 6238 Appendix B lists codes of 8 digits. A code of 6 digits is their last six (RFC 4226 §5.3). */
const vectors: [number, string][] = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
];

describe('TOTP by speakeasy (RFC 6238)', () => {
  it.each(vectors)('T081 at %d s accepts the code of Appendix B and returns its step', (seconds, printed) => {
    expect(withWindow(0).stepOf(printed.slice(-6), rfcSecret, at(seconds))).toBe(Math.floor(seconds / 30));
  });

  it('agrees with an independent implementation on 2000 secrets and times', () => {
    const codes = withWindow(0);
    for (let n = 0; n < 2000; n++) {
      const secret = n % 2 === 0 ? codes.generateSecret() : generateSecret({ length: 20 });
      const seconds = random.bytes(4).readUInt32BE();
      const code = generateSync({ secret, epoch: seconds });
      expect(codes.stepOf(code, secret, at(seconds))).toBe(Math.floor(seconds / 30));
    }
  });

  it.each([
    [0, [0]],
    [1, [-1, 0, 1]],
    [2, [-2, -1, 0, 1, 2]],
  ])('T082 with window %d accepts the codes of the steps %j and no others', (window, accepted) => {
    const codes = withWindow(window);
    const now = 1_700_000_015;
    const found = [-4, -3, -2, -1, 0, 1, 2, 3, 4].filter((steps) => {
      const code = generateSync({ secret: rfcSecret, epoch: now + 30 * steps });
      const step = codes.stepOf(code, rfcSecret, at(now));
      if (step !== null) expect(step).toBe(Math.floor(now / 30) + steps);
      return step !== null;
    });
    expect(found).toEqual(accepted);
  });

  it('changes the code exactly at the start of a step', () => {
    const codes = withWindow(0);
    const code = generateSync({ secret: rfcSecret, epoch: 59 });
    expect(codes.stepOf(code, rfcSecret, new Date(29_999))).toBeNull();
    expect(codes.stepOf(code, rfcSecret, new Date(30_000))).toBe(1);
    expect(codes.stepOf(code, rfcSecret, new Date(59_999))).toBe(1);
    expect(codes.stepOf(code, rfcSecret, new Date(60_000))).toBeNull();
  });

  // A parser of numbers would accept some of these as the correct code.
  it.each([
    '81804',
    '081804 ',
    ' 81804',
    '+81804',
    '0081804',
    '０８１８０４',
    '8180e1',
    '0x13F8C',
    '',
    'NaN',
    '081804\n',
  ])('T095 does not accept %p for the code 081804', (code) => {
    expect(withWindow(1).stepOf(code, rfcSecret, at(1111111109))).toBeNull();
    expect(withWindow(1).stepOf('081804', rfcSecret, at(1111111109))).not.toBeNull();
  });

  it('makes different secrets of 160 bits in Base32', () => {
    const codes = withWindow(1);
    const secrets = Array.from({ length: 1000 }, () => codes.generateSecret());
    expect(new Set(secrets).size).toBe(1000);
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  });

  it('encodes a secret in Base32 as RFC 4648 defines it', () => {
    const fixed = Object.assign(new SystemRandom(), { bytes: () => Buffer.from('12345678901234567890') });
    expect(new SpeakeasyTotpCodes(fixed, { issuer: 'Portal', window: 1 }).generateSecret()).toBe(rfcSecret);
  });

  it.each(['alice', 'a b&c=d?e#f/g%', 'alice@example.com', '李雷', 'x'.repeat(255), '💶'.repeat(127)])(
    'makes a URI for the account %p that fits into a QR code',
    (account) => {
      const uri = new URL(withWindow(1).uri(rfcSecret, account));
      expect(decodeURIComponent(uri.pathname)).toBe(`/Portal:${[...account].slice(0, 64).join('')}`);
      expect(Object.fromEntries(uri.searchParams)).toEqual({
        secret: rfcSecret,
        issuer: 'Portal',
        algorithm: 'SHA1',
        digits: '6',
        period: '30',
      });
      expect(() => create(uri.href, { errorCorrectionLevel: 'M' })).not.toThrow();
    },
  );
});
