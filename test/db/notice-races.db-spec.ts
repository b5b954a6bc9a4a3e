import { Mailer } from '../../src/mail/mailer';
import { WarningClaims } from '../../src/password-reset/persistence/expiry-warning.repository';
import { ExpiryWarnings } from '../../src/password-reset/expiry-warnings';
import { PasswordSettings } from '../../src/users/password-settings';
import { Database } from '../../src/platform/database/database';
import { Clock } from '../../src/shared/clock';
import { ExpiringPasswords } from '../../src/users/expiring-passwords';
import { UsersRepository } from '../../src/users/users.repository';
import { TestService } from '../support/app';

const mariadb = __DATABASE__ === 'mariadb';
const days = 86_400;

/** SQLite belongs to one process, so the racers share one service there. On MariaDB they are two replicas. */
describe('races about notices', () => {
  let service: TestService;
  let replica: TestService;

  beforeEach(async () => {
    const settings = { NEW_SIGN_IN_NOTICE: 'true' };
    service = await TestService.start(settings);
    replica = mariadb ? await TestService.start(settings, { store: service.store, clock: service.clock }) : service;
  });
  afterEach(async () => {
    if (mariadb) await replica.stop({ keepStore: true });
    await service.stop();
  });

  /** A pass of its own, as another process makes it. */
  const warningsOf = ({ app }: TestService) =>
    new ExpiryWarnings(
      app.get(ExpiringPasswords),
      app.get(WarningClaims),
      app.get(UsersRepository),
      app.get(Mailer),
      app.get(Database),
      app.get(Clock),
      app.get(PasswordSettings),
    );
  const expiringUsers = async (count: number, daysLeft: number) => {
    const passwordSetAt = new Date(service.clock.now().getTime() - (90 - daysLeft) * days * 1000);
    for (let i = 0; i < count; i++) await service.givenUser(`user${i}`, { passwordSetAt });
  };
  const passes = () => Promise.all([service, replica, service, replica].map((each) => warningsOf(each).run()));
  const mails = (kind: string) => service.count('mail_outbox', 'kind = ?', [kind]);

  it('four parallel passes send one warning for each account, at the first step and at the next one', async () => {
    await expiringUsers(20, 14);
    expect((await passes()).reduce((sum, count) => sum + count)).toBe(20);
    expect(await mails('password-expires')).toBe(20);
    service.clock.advanceSeconds(7 * days);
    expect((await passes()).reduce((sum, count) => sum + count)).toBe(20);
    expect(await mails('password-expires')).toBe(40);
    expect(await service.count('password_expiry_warnings', 'days = 7')).toBe(20);
  });

  it('of parallel claims of one warning exactly one wins, with and without a former warning', async () => {
    const claims = [service, replica].map(({ app }) => app.get(WarningClaims));
    const race = async (former?: { passwordId: number; days: number }, next = 14) =>
      (
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            (i % 2 ? replica : service).database.transaction((tx) =>
              claims[i % 2]!.claim(tx, { userId: 'u', passwordId: 1, days: next }, former),
            ),
          ),
        )
      ).filter(Boolean);
    expect(await race()).toEqual([true]);
    expect(await race({ passwordId: 1, days: 14 }, 7)).toEqual([true]);
    expect(await race({ passwordId: 1, days: 14 }, 7)).toEqual([]);
  });

  it('a password that changes between the reading and the mail sends no warning', async () => {
    await expiringUsers(1, 7);
    const passwords = service.app.get(ExpiringPasswords);
    const slow = new ExpiryWarnings(
      {
        after: async (...range: Parameters<ExpiringPasswords['after']>) => {
          const found = await passwords.after(...range);
          await service.database.affected('UPDATE users SET credential_version = credential_version + 1');
          return found;
        },
      } as ExpiringPasswords,
      service.app.get(WarningClaims),
      service.app.get(UsersRepository),
      service.app.get(Mailer),
      service.app.get(Database),
      service.app.get(Clock),
      service.app.get(PasswordSettings),
    );
    expect(await slow.run()).toBe(0);
    expect(await mails('password-expires')).toBe(0);
  });

  it('30 parallel logins from one new browser send one notice, and all of them succeed (T291)', async () => {
    await service.givenUser('alice');
    const agent = (name: string) => ({ headers: { 'user-agent': `Mozilla/5.0 (X11; Linux x86_64; rv:9) ${name}` } });
    await service.login('alice', undefined, {}, agent('Gecko/20100101 Firefox/145.0'));
    const chrome = agent('AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => (i % 2 ? replica : service).login('alice', undefined, {}, chrome)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(await mails('new-sign-in')).toBe(1);
    expect(await service.count('known_browsers')).toBe(2);
  });

  it('a million passwords are read through the index, in bounded batches', async () => {
    await expiringUsers(1, 7);
    const explain = mariadb ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
    const range = `created_at >= ? AND created_at <= ? AND (created_at > ? OR (created_at = ? AND`;
    const at = '2026-01-01 00:00:00.000';
    for (const [table, key, index] of [
      ['user_change_pwd_logs', 'id', 'ix_user_change_pwd_logs_created_at_id'],
      ['users', 'uid', 'ix_users_created_at_uid'],
    ] as const) {
      const forced = mariadb ? `${table} FORCE INDEX (${index})` : table;
      const plan = await service.database.rows(
        `${explain} SELECT ${key} FROM ${forced} WHERE ${range} ${key} > ?)) ORDER BY created_at, ${key} LIMIT 1000`,
        [at, '2026-02-01 00:00:00.000', at, at, 0],
      );
      const text = JSON.stringify(plan);
      expect(text).toContain(index);
      expect(text).not.toMatch(/filesort|TEMP B-TREE/i);
    }
  });
});
