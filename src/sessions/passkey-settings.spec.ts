import { loadConfig } from '../settings/app-config';
import { SettingsProblem } from '../platform/config/settings-reader';

const base = { JWT_SECRET: 'k9s2-dk3l-0x8v-q1mz-7cby-p5hw-e4nt', DATA_ENCRYPTION_KEY: dataKey() };

function dataKey(): string {
  return Buffer.from(Array.from({ length: 32 }, (_, n) => (n * 37) % 256)).toString('base64');
}

const passkeysOf = (environment: Record<string, string>) => loadConfig({ ...base, ...environment }).passkeys;

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig({ ...base, ...environment });
    return [];
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
}

describe('PASSKEYS and PASSKEY_RP_ID', () => {
  it.each([
    ['https://portal.example.com', 'portal.example.com', 'https://portal.example.com'],
    ['https://Portal.Example.com/app', 'portal.example.com', 'https://portal.example.com'],
    ['https://portal.example.com:8443', 'portal.example.com', 'https://portal.example.com:8443'],
    ['https://bücher.example', 'xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['http://localhost:3000', 'localhost', 'http://localhost:3000'],
  ])('SYSTEM_URL %s gives the RP id %s and the origin %s', (SYSTEM_URL, rpId, origin) =>
    expect(passkeysOf({ SYSTEM_URL })).toEqual({ rpId, origin }),
  );

  it.each(['http://127.0.0.1:3000', 'http://[::1]:3000', 'https://203.0.113.7', 'http://2130706433'])(
    'there are none with the address %s, which WebAuthn does not accept',
    (SYSTEM_URL) => expect(passkeysOf({ SYSTEM_URL })).toBeUndefined(),
  );

  it('PASSKEYS=off: there are none', () =>
    expect(passkeysOf({ SYSTEM_URL: 'https://portal.example.com', PASSKEYS: 'off' })).toBeUndefined());

  it.each(['portal.example.com', 'example.com'])('PASSKEY_RP_ID may be the host or a domain above it: %s', (rpId) =>
    expect(passkeysOf({ SYSTEM_URL: 'https://portal.example.com', PASSKEY_RP_ID: rpId })).toEqual({
      rpId,
      origin: 'https://portal.example.com',
    }),
  );

  it.each([
    'com',
    '.com',
    '.example.com',
    'ortal.example.com',
    'other.example.com',
    'login.portal.example.com',
    'example.org',
    'EXAMPLE.com',
    'https://example.com',
    'example.com:443',
    'example.com.',
    ' example.com',
    '127.0.0.1',
  ])('PASSKEY_RP_ID=%s stops the start with one line that names the key and not the value', (rpId) => {
    const problems = problemsOf({ SYSTEM_URL: 'https://portal.example.com', PASSKEY_RP_ID: rpId });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^PASSKEY_RP_ID must be the host name of SYSTEM_URL or a domain above it/);
  });

  it('PASSKEY_RP_ID beside an address in SYSTEM_URL stops the start', () =>
    expect(problemsOf({ SYSTEM_URL: 'http://127.0.0.1:3000', PASSKEY_RP_ID: '127.0.0.1' })).toHaveLength(1));

  it('PASSKEYS is on or off, and a misspelt name stops the start', () => {
    expect(problemsOf({ PASSKEYS: 'true' })).toEqual(['PASSKEYS must be one of on, off']);
    expect(problemsOf({ PASSKEY_RPID: 'example.com' })).toEqual([
      'PASSKEY_RPID is not a setting, DID_YOU_MEAN PASSKEY_RP_ID',
    ]);
  });
});
