import { Logger } from '@nestjs/common';
import type { AppConfig } from '../platform/config/app-config';
import { KeyRing } from '../platform/crypto/key-ring';
import { SystemRandom } from '../shared/random';
import { openSmtpSecret, sealSmtpSecret } from './smtp-secret';

const ring = (byte: number) =>
  new KeyRing({ dataKeys: [Buffer.alloc(32, byte)] } as unknown as AppConfig, new SystemRandom());

// A value that does not open is told in the log.
beforeAll(() => Logger.overrideLogger(false));

describe('the SMTP password at rest', () => {
  it('is sealed for its own purpose, and opens', () => {
    const sealed = sealSmtpSecret(ring(1), 'pass word');
    expect(sealed).not.toContain('pass');
    expect(openSmtpSecret(ring(1), sealed)).toBe('pass word');
    expect(() => ring(1).open('mail', sealed)).toThrow('does not open');
  });

  it('is never used in its sealed form', () => {
    expect(() => openSmtpSecret(ring(2), sealSmtpSecret(ring(1), 'x'))).toThrow('does not open');
  });

  it.each(['', 'plain', 'v1.0-password', 'v1.'])('%j, written by plain SQL, is taken as it is', (plain) => {
    expect(openSmtpSecret(ring(1), plain)).toBe(plain);
  });
});
