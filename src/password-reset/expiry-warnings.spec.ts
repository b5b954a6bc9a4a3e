import { loadConfig } from '../settings/app-config';
import type { Database } from '../platform/database/database';
import type { Mailer } from '../mail/mailer';
import { SystemClock } from '../shared/clock';
import type { ExpiringPasswords } from '../users/expiring-passwords';
import type { UsersRepository } from '../users/users.repository';
import { testSettings } from '../../test/support/settings';
import type { WarningClaims } from './persistence/expiry-warning.repository';
import { ExpiryWarnings } from './expiry-warnings';

/** Warnings that find no password. */
function warnings(settings: Record<string, string> = {}) {
  const read: string[] = [];
  const passwords = {
    after: (source: string) => {
      read.push(source);
      return Promise.resolve([]);
    },
  } as unknown as ExpiringPasswords;
  const claims = { last: () => Promise.resolve(new Map()) } as unknown as WarningClaims;
  const [users, mailer, database] = [{}, {}, {}] as [UsersRepository, Mailer, Database];
  const config = loadConfig({ ...testSettings, ...settings });
  return {
    read,
    service: new ExpiryWarnings(passwords, claims, users, mailer, database, new SystemClock(), config.passwords),
  };
}

describe('warnings of an expiring password', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are looked for within a minute of the start, so that pods which live shorter than an hour send them too', async () => {
    const { read, service } = warnings();
    service.startWarning();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(read).toContain('history');
    await service.onModuleDestroy();
  });

  it('are not looked for where they are off', async () => {
    const { read, service } = warnings({ PASSWORD_EXPIRY_WARN_DAYS: 'off' });
    service.startWarning();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(read).toEqual([]);
  });
});
