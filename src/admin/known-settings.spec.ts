import { openSmtpSecret } from '../mail/smtp-secret';
import { KeyRing } from '../platform/crypto/key-ring';
import { SystemRandom } from '../shared/random';
import { isSecret, storable } from './known-settings';

const keys = new KeyRing({ dataKeys: [Buffer.alloc(32, 1)] }, new SystemRandom());
const stored = (group: string, key: string, value: string) => storable(keys, group, key, value);

describe('a setting that is written', () => {
  it('stores a password policy with all its members, so that a later default does not change it', () => {
    expect(stored('CONFIG', 'PASSWORD_POLICY', ' {"min_length": 16} ')).toBe(
      '{"min_length":16,"require_upper":true,"require_lower":true,"require_digit":true,"require_special":false,' +
        '"forbid_common":true,"forbid_own_data":true,"breach_check":false}',
    );
  });

  it.each<[string, string, string]>([
    ['CONFIG', 'PASSWORD_POLICY', 'nonsense'],
    ['CONFIG', 'PASSWORD_POLICY', '{"min_length":0}'],
    ['CONFIG', 'PASSWORD_POLICY', '{"min_length":"16"}'],
    ['CONFIG', 'PASSWORD_POLICY', '{"min_lenght":16}'],
    ['CONFIG', 'PASSWORD_POLICY', ''],
    ['SMTP', 'HOST', ''],
    ['SMTP', 'HOST', 'smtp://mail.example.com'],
    ['SMTP', 'HOST', 'mail.example.com evil'],
    ['SMTP', 'PORT', '0'],
    ['SMTP', 'PORT', '65536'],
    ['SMTP', 'PORT', 'smtp'],
    ['SMTP', 'PORT', '25.5'],
    ['SMTP', 'SENDER', 'nobody'],
    ['SMTP', 'SENDER', 'a@example.com, b@example.com'],
    ['SMTP', 'SENDER', 'Portal <a@example.com>\r\nBcc: b@example.com'],
    ['SMTP', 'USER', ''],
    ['SMTP', 'USER', 'user\u0000'],
    ['SMTP', 'SECRET', ''],
    ['SMTP', 'TLS', 'yes'],
    ['SMTP', 'TLS', 'ssl'],
    ['a group', 'KEY', 'x'],
    ['GROUP', 'a\nkey', 'x'],
    ['', '', 'x'],
  ])('refuses %s %s %j in one line that does not contain the value', (group, key, value) => {
    let problem = '';
    try {
      stored(group, key, value);
    } catch (error) {
      problem = (error as Error).message;
    }
    expect(problem).toMatch(/^[^\n]{1,160}$/);
    if (value.length > 4) expect(problem).not.toContain(value);
  });

  it.each([
    ['HOST', ' mail.example.com ', 'mail.example.com'],
    ['HOST', '2001:db8::1', '2001:db8::1'],
    ['PORT', '465', '465'],
    ['SENDER', 'no-reply@example.com', 'no-reply@example.com'],
    ['SENDER', 'Portal <no-reply@example.com>', 'Portal <no-reply@example.com>'],
    ['USER', 'mailer', 'mailer'],
    ['TLS', 'STARTTLS', 'starttls'],
  ])('stores SMTP %s %j as %j', (key, value, expected) => {
    expect(stored('SMTP', key, value)).toBe(expected);
  });

  it('seals the secret of the mail server, spaces included', () => {
    const sealed = stored('SMTP', 'SECRET', ' pass word ');
    expect(sealed).toMatch(/^v1\./);
    expect(sealed).not.toContain('pass word');
    expect(openSmtpSecret(keys, sealed)).toBe(' pass word ');
    expect(isSecret('SMTP', 'SECRET')).toBe(true);
    expect(isSecret('SMTP', 'HOST')).toBe(false);
  });

  it.each([
    ['CONFIG', 'PASWORD_POLICY', 'CONFIG has no key PASWORD_POLICY: give PASSWORD_POLICY'],
    ['CONFIG', 'HOST', 'CONFIG has no key HOST: give PASSWORD_POLICY'],
    ['SMTP', 'PASSWORD', 'SMTP has no key PASSWORD: give HOST, PORT, SENDER, USER, TLS, SECRET'],
    ['smtp', 'HOST', 'there is no group smtp: give CONFIG or SMTP'],
    ['OTHER', 'PASSWORD_POLICY', 'there is no group OTHER: give CONFIG or SMTP'],
    ['__proto__', 'constructor', 'there is no group __proto__: give CONFIG or SMTP'],
  ])('refuses the unknown setting %s %s, and names the valid groups or keys', (group, key, problem) => {
    expect(() => stored(group, key, 'canary')).toThrow(
      expect.objectContaining({ name: 'SettingProblem', message: problem }),
    );
  });
});
