import { settingsOfTenant, settingsOfUrl, SmtpProblem } from './smtp-settings';

const from = 'no-reply@example.com';
const open = (stored: string) => stored.replace(/^sealed:/, '');
const ofTenant = (group: Record<string, string>) => settingsOfTenant(new Map(Object.entries(group)), open, from);

describe('the group SMTP of the root tenant', () => {
  it('is ignored without HOST, whatever else is set', () => {
    expect(ofTenant({})).toBeUndefined();
    expect(ofTenant({ HOST: ' ', PORT: '25', USER: 'service', SECRET: 'x', SENDER: from })).toBeUndefined();
  });

  it('replaces SMTP_URL as a whole', () => {
    const group = {
      PORT: '2525',
      SENDER: 'Portal <p@example.com>',
      USER: 'u',
      SECRET: 'sealed: a b ',
      TLS: 'starttls',
    };
    expect(ofTenant({ HOST: 'mail.example.com', ...group })).toEqual({
      host: 'mail.example.com',
      port: 2525,
      tls: 'starttls',
      auth: { user: 'u', pass: ' a b ' },
      sender: { name: 'Portal', address: 'p@example.com' },
    });
  });

  it.each([
    [{}, 587, 'opportunistic'],
    [{ TLS: 'none' }, 25, 'none'],
    [{ TLS: 'starttls' }, 587, 'starttls'],
    [{ TLS: 'TLS' }, 465, 'tls'],
    [{ PORT: '465' }, 465, 'tls'],
    [{ PORT: '25' }, 25, 'opportunistic'],
  ])('%j means port %d and %s', (group, port, tls) => {
    expect(ofTenant({ HOST: 'mail', ...group })).toMatchObject({ port, tls, auth: undefined });
  });

  it.each([
    [{ TLS: 'ssl' }, 'SMTP TLS must be none, starttls or tls'],
    [{ PORT: '0' }, 'SMTP PORT must be from 1 to 65535'],
    [{ PORT: '25a' }, 'SMTP PORT must be from 1 to 65535'],
    [{ SENDER: 'Portal' }, 'SMTP SENDER must be an address, or a name and <address>'],
  ])('%j is refused by a message that names the key and not the value', (group, message) => {
    expect(() => ofTenant({ HOST: 'mail', ...group })).toThrow(new SmtpProblem(message));
  });

  it('a SECRET that was sealed with another key is refused, not used as a password', () => {
    const group = new Map([
      ['HOST', 'mail'],
      ['USER', 'u'],
      ['SECRET', 'v1.x'],
    ] as const);
    const fails = () => {
      throw new Error('v1.x');
    };
    expect(() => settingsOfTenant(group, fails, from)).toThrow(
      new SmtpProblem('DATA_ENCRYPTION_KEY does not open SMTP SECRET: set SMTP SECRET again, or add the missing key'),
    );
  });
});

describe('SMTP_URL', () => {
  it.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, tls: 'opportunistic', auth: undefined }],
    ['smtp://mail:25?tls=none', { port: 25, tls: 'none' }],
    ['smtp://mail/?tls=starttls', { port: 587, tls: 'starttls' }],
    ['smtps://mail', { port: 465, tls: 'tls' }],
    ['smtp://mail?tls=tls', { port: 465, tls: 'tls' }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
    ['smtp://us%40er:p%3Ass@mail', { auth: { user: 'us@er', pass: 'p:ss' } }],
  ])('%s is read', (url, settings) => expect(settingsOfUrl(url, from)).toMatchObject(settings));

  it.each([
    ['smtp://mail?tls=maybe', from, 'SMTP_URL: tls must be none, starttls or tls'],
    ['smtps://mail?tls=none', from, 'SMTP_URL: smtps:// and tls contradict each other'],
    ['smtp://u:%zz@mail', from, 'SMTP_URL is not properly percent-encoded'],
    ['smtp://mail', 'Portal', 'MAIL_FROM must be an address, or a name and <address>'],
  ])('%s with the sender %s is refused', (url, sender, message) => {
    expect(() => settingsOfUrl(url, sender)).toThrow(new SmtpProblem(message));
  });
});
