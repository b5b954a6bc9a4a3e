import { Logger } from '@nestjs/common';
import { KeyRing } from '../platform/crypto/key-ring';
import { SystemRandom } from '../shared/random';
import { openSmtpSecret, sealSmtpSecret } from './smtp-secret';

const ring = (byte: number) => new KeyRing({ dataKeys: [Buffer.alloc(32, byte)] }, new SystemRandom());

// KeyRing logs a value that cannot be decrypted.
beforeAll(() => Logger.overrideLogger(false));

describe('the stored SMTP password', () => {
  it('is encrypted for its own purpose and can be decrypted', () => {
    const sealed = sealSmtpSecret(ring(1), 'pass word');
    expect(sealed).not.toContain('pass word');
    expect(openSmtpSecret(ring(1), sealed)).toBe('pass word');
    expect(() => ring(1).open('mail', sealed)).toThrow('does not open');
  });

  it('is refused, not used in its encrypted form, when no key decrypts it', () => {
    expect(() => openSmtpSecret(ring(2), sealSmtpSecret(ring(1), 'x'))).toThrow('does not open');
  });

  it.each(['', 'plain', 'v1.0-password', 'v1.'])('%j, written by plain SQL, is used unchanged', (plain) => {
    expect(openSmtpSecret(ring(1), plain)).toBe(plain);
  });
});
