import { Logger } from '@nestjs/common';
import { dataKey, testSettings } from '../../../test/support/settings';
import { SystemRandom } from '../../shared/random';
import { type AppConfig, loadConfig } from '../../settings/app-config';
import { identityOf, isSealed, KeyRing, sha256Hex } from './key-ring';

const key = dataKey;

function ring(...keys: string[]): KeyRing {
  const config: AppConfig = loadConfig({ JWT_SECRET: testSettings.JWT_SECRET, DATA_ENCRYPTION_KEY: keys.join(',') });
  return new KeyRing(config, new SystemRandom());
}

/** Copies of `sealed`. In each copy one bit of another byte is flipped. */
function tampered(sealed: string): string[] {
  const bytes = Buffer.from(sealed.replace(/^v1\./, ''), 'base64url');
  return [...bytes.keys()].map((at) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return `v1.${copy.toString('base64url')}`;
  });
}

// KeyRing logs an error when a value does not open, and these tests open such values on purpose.
beforeAll(() => Logger.overrideLogger(false));

describe('KeyRing', () => {
  it.each(['', 'JBSWY3DPEHPK3PXP', '密码 🔑', 'x'.repeat(10_000)])('opens what it sealed (%#)', (plain) => {
    const one = ring(key(1));
    expect(one.open('totp', one.seal('totp', plain))).toBe(plain);
  });

  it('seals the same value differently each time, and the sealed text does not contain the value', () => {
    const one = ring(key(1));
    const sealed = [one.seal('totp', 'JBSWY3DPEHPK3PXP'), one.seal('totp', 'JBSWY3DPEHPK3PXP')];
    expect(sealed[0]).not.toBe(sealed[1]);
    expect(Buffer.from(sealed.join(), 'utf8').toString()).not.toContain('JBSWY3DP');
  });

  it('refuses to open a value if a single bit of it was changed', () => {
    const one = ring(key(1));
    for (const sealed of tampered(one.seal('totp', 'secret'))) expect(() => one.open('totp', sealed)).toThrow(Error);
    for (const garbage of ['', 'v1.', 'v1.AAAA', 'secret']) expect(() => one.open('totp', garbage)).toThrow(Error);
  });

  it('a value that is moved to another purpose does not open', () => {
    const one = ring(key(1));
    expect(() => one.open('smtp', one.seal('totp', 'secret'))).toThrow(Error);
  });

  it('with two keys the first key seals and both keys open, so that keys can be rotated', () => {
    const [former, both, current] = [ring(key(1)), ring(key(2), key(1)), ring(key(2))];
    expect(both.open('totp', former.seal('totp', 'old'))).toBe('old');
    expect(current.open('totp', both.seal('totp', 'new'))).toBe('new');
    expect(() => former.open('totp', both.seal('totp', 'new'))).toThrow(Error);
    expect(() => current.open('totp', former.seal('totp', 'old'))).toThrow(Error);
  });

  it('resealing: the first key opens the new text, the identity stays, and a second resealing changes nothing', () => {
    const [former, both, current] = [ring(key(1)), ring(key(2), key(1)), ring(key(2))];
    const before = former.seal('totp', 'secret');
    const after = both.reseal('totp', before);
    expect(current.open('totp', after)).toBe('secret');
    expect(after).not.toBe(before);
    expect(identityOf(after)).toBe(identityOf(before));
    expect(both.reseal('totp', before)).toBe(after);
    expect(both.reseal('totp', after)).toBe(after);
    expect(() => current.reseal('totp', before)).toThrow(/totp/);
    expect(() => both.reseal('smtp', before)).toThrow(/smtp/);
  });

  it('the same value sealed twice has two identities', () => {
    const one = ring(key(1));
    expect(identityOf(one.seal('totp', 'x'))).not.toBe(identityOf(one.seal('totp', 'x')));
  });

  it.each(['', 'secret', 'v1.', 'v1.short', `v1.${'a'.repeat(37)}`, `v1.${'a'.repeat(40)} b`, `v2.${'a'.repeat(60)}`])(
    'the text %j is not sealed',
    (text) => {
      expect(isSealed(text)).toBe(false);
      expect(isSealed(ring(key(1)).seal('totp', text))).toBe(true);
    },
  );

  it('a failure names the purpose and neither the value nor a key', () => {
    const sealed = ring(key(1)).seal('totp', 'secret');
    expect(() => ring(key(2)).open('totp', sealed)).toThrow(/totp/);
    try {
      ring(key(2)).open('totp', sealed);
    } catch (error) {
      for (const hidden of [sealed, sealed.slice(3), key(2)]) expect(String(error)).not.toContain(hidden);
    }
  });

  it('the MAC of a code is equal on all replicas, differs by purpose and key, and matches with a former key', () => {
    expect(ring(key(1)).mac('otp', '123456')).toBe(ring(key(1)).mac('otp', '123456'));
    const all = [
      ring(key(1)).mac('otp', '123456'),
      ring(key(1)).mac('otp', '123457'),
      ring(key(1)).mac('captcha', '123456'),
      ring(key(2)).mac('otp', '123456'),
    ];
    expect(new Set(all).size).toBe(all.length);
    const rotated = ring(key(2), key(1));
    expect(rotated.macMatches('otp', '123456', ring(key(1)).mac('otp', '123456'))).toBe(true);
    expect(rotated.macMatches('otp', '123456', rotated.mac('otp', '123456'))).toBe(true);
  });

  it.each(['', '00', 'zz', 'f'.repeat(64), '密'.repeat(64)])(
    'the foreign MAC %j does not match, and the comparison does not throw',
    (code) => {
      expect(ring(key(1)).macMatches('otp', '123456', code)).toBe(false);
    },
  );

  it('a key for a library differs for each purpose, and from the configured key', () => {
    const secrets = ring(key(2), key(1)).secrets('captcha');
    expect(secrets).toHaveLength(2);
    expect(secrets[0]).toBe(ring(key(2)).secrets('captcha')[0]);
    expect(ring(key(2)).secrets('pass')[0]).not.toBe(secrets[0]);
    expect(secrets).not.toContain(Buffer.from(key(2), 'base64').toString('hex'));
  });

  it('the stored form of a link is its SHA-256 (FIPS 180-4, "abc")', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
