import { totpSecretOf, UnusableTotp } from './brought-totp';

const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('the authenticator of another system', () => {
  it.each([
    ['Base32', secret],
    ['small letters in groups', 'gezd gnbv gy3t qojq gezd gnbv gy3t qojq'],
    ['Base32 with dashes', 'GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ'],
    ['a URI of Google Authenticator', `otpauth://totp/Portal:ada@example.com?secret=${secret}&issuer=Portal`],
    ['a URI that names the parameters', `otpauth://totp/x?secret=${secret}&algorithm=SHA1&digits=6&period=30`],
    ['a URI in other letters', `OTPAUTH://TOTP/x?secret=${secret.toLowerCase()}&algorithm=sha1`],
  ])('%s is read', (_what, text) => {
    expect(totpSecretOf(text)).toBe(secret);
  });

  it('padding is left out', () => {
    expect(totpSecretOf('GEZDGNBVGY3TQOJQGE======')).toBe('GEZDGNBVGY3TQOJQGE');
  });

  it.each([
    ['SHA-256', `otpauth://totp/x?secret=${secret}&algorithm=SHA256`, 'SHA1'],
    ['eight digits', `otpauth://totp/x?secret=${secret}&digits=8`, '6 digits'],
    ['another period', `otpauth://totp/x?secret=${secret}&period=60`, '30 seconds'],
    ['a counter', `otpauth://hotp/x?secret=${secret}&counter=1`, 'otpauth://totp/'],
    ['no secret', 'otpauth://totp/x', 'Base32'],
    ['72 bits', 'GEZDGNBVGY3TQOI', 'Base32'],
    ['more than 64 bytes', secret.repeat(4), 'Base32'],
    ['half a byte at the end', `${secret}A`, 'Base32'],
    ['hexadecimal', '3132333435363738393031323334353637383930', 'Base32'],
    // It took three seconds once, for each row of a file.
    ['padding as long as a row', `${'='.repeat(60_000)}x`, 'at most 1024 characters'],
    ['another URI', `https://portal.test/?secret=${secret}`, 'Base32'],
  ])('%s is refused with its reason, which shows nothing of the secret', (_what, text, reason) => {
    const problem = ((): unknown => {
      try {
        return totpSecretOf(text);
      } catch (error) {
        return error;
      }
    })();
    expect(problem).toBeInstanceOf(UnusableTotp);
    expect((problem as Error).message).toContain(reason);
    expect((problem as Error).message).not.toContain(text.slice(-8));
  });
});
