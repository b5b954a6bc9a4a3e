import { DataSource } from 'typeorm';
import { Directory } from '../../src/directory/directory';
import type { Verdict } from '../../src/directory/person';
import { BcryptPasswordHasher } from '../../src/hashing/bcrypt-password-hasher';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { webhookSecret } from '../support/events/webhook-receiver';
import { password, tally, TestService } from '../support/app';
import { countHashing } from '../support/count-hashing';
import { listStatements } from '../support/count-statements';
import { absentDirectory, directoryPassword, foundPerson } from '../support/ldap';

const auto = { provider: 'auto' };

/** docs/spec/extensions.md#provider-auto */
describe('POST /login with provider "auto"', () => {
  /** A service with a directory of one person, `remote`, that the test answers for. */
  async function withDirectory(
    settings: Record<string, string>,
    work: (service: TestService, asked: { find: jest.SpyInstance; judge: jest.SpyInstance }) => Promise<void>,
  ): Promise<void> {
    const service = await TestService.start({ BCRYPT_COST: '5', ...absentDirectory, ...settings });
    const directory = service.app.get(Directory);
    const find = jest.spyOn(directory, 'find').mockImplementation((query) => {
      const known = 'name' in query && query.name.startsWith('remote');
      return Promise.resolve(known ? foundPerson('remote', { id: null }) : { kind: 'nobody' });
    });
    const judge = jest
      .spyOn(directory, 'judge')
      .mockImplementation((_person, typed) =>
        Promise.resolve<Verdict>({ kind: typed === directoryPassword ? 'right' : 'wrong' }),
      );
    await work(service, { find, judge }).finally(() => service.stop());
  }
  const logs = (service: TestService) =>
    service.database.rows<Record<string, unknown>>('SELECT login_name, provider, outcome FROM login_logs ORDER BY id');

  it('checks the name and the address of a local user here, and no password of theirs reaches the directory', async () => {
    await withDirectory({ LDAP_JIT_PROVISIONING: 'true' }, async (service, { find, judge }) => {
      const { uid } = await service.givenUser('local');
      for (const name of ['local', 'LOCAL', 'local@example.com']) {
        expect((await service.login(name, password, auto)).status).toBe(200);
        expect((await service.login(name, 'wrong', auto)).body.error_code).toBe('LOGIN_401001');
      }
      expect((await service.userRow(uid)).login_failed_count).toBe(1);
      expect([find, judge].map((asked) => asked.mock.calls)).toEqual([[], []]);
      expect(new Set((await logs(service)).map(({ provider }) => provider))).toEqual(new Set(['password']));
    });
  });

  it('checks the name of a directory user at the directory, with the counter of the account', async () => {
    await withDirectory({}, async (service, { judge }) => {
      const { uid } = await service.givenUser('remote', { provider: 'ldap' });
      expect((await service.login('remote', 'wrong', auto)).body.error_code).toBe('LOGIN_401001');
      expect((await service.userRow(uid)).login_failed_count).toBe(1);
      expect((await service.login('Remote', directoryPassword, auto)).status).toBe(200);
      expect(judge).toHaveBeenCalledTimes(2);
      expect(await logs(service)).toEqual([
        { login_name: 'remote', provider: 'ldap', outcome: 'LOGIN_401001' },
        { login_name: 'remote', provider: 'ldap', outcome: 'success' },
      ]);
    });
  });

  it('asks the directory about a name that the service does not know, and creates the account of a newcomer', async () => {
    await withDirectory({ LDAP_JIT_PROVISIONING: 'true' }, async (service) => {
      expect((await service.login('nobody', 'wrong', auto)).body.error_code).toBe('LOGIN_404001');
      expect((await service.login('remote', directoryPassword, auto)).status).toBe(200);
      expect(await service.count('users', "login_name = 'remote' AND provider = 'ldap'")).toBe(1);
      expect(await logs(service)).toEqual([
        { login_name: 'nobody', provider: 'ldap', outcome: 'LOGIN_404001' },
        { login_name: 'remote', provider: 'ldap', outcome: 'success' },
      ]);
    });
  });

  it('without a directory, any name that is not that of a local user is LOGIN_404001 after the work of a known one', async () => {
    const service = await TestService.start({ BCRYPT_COST: '5' });
    try {
      await service.givenUser('local');
      const { uid } = await service.givenUser('stranded', { provider: 'ldap' });
      const hashing = countHashing(service);
      for (const [name, code] of [
        ['local', 'LOGIN_401001'],
        ['stranded', 'LOGIN_404001'],
        ['nobody', 'LOGIN_404001'],
        ['nobody@example.com', 'LOGIN_404001'],
      ] as const) {
        const work = await hashing(async () => {
          expect((await service.login(name, 'wrong', auto)).body.error_code).toBe(code);
        });
        expect({ name, ...work }).toEqual({ name, jobs: 1, rounds: 2 ** 5 });
      }
      expect((await service.userRow(uid)).login_failed_count).toBe(0);
      expect(new Set((await logs(service)).map(({ provider }) => provider))).toEqual(new Set(['password']));
      expect((await service.login('local', password, auto)).status).toBe(200);
    } finally {
      await service.stop();
    }
  });

  it.each(['true', 'false'])(
    'with HIDE_ACCOUNT_EXISTENCE, a local, a directory and an unknown name get one answer after one hash (just-in-time: %s)',
    async (jit) => {
      const settings = { HIDE_ACCOUNT_EXISTENCE: 'true', LDAP_JIT_PROVISIONING: jit };
      await withDirectory(settings, async (service) => {
        await service.givenUser('local');
        await service.givenUser('remote', { provider: 'ldap' });
        await service.givenUser('off', { status: -1 });
        const hashing = countHashing(service);
        for (const username of ['local', 'local@example.com', 'remote', 'off', 'nobody', 'nobody@example.com']) {
          let body: unknown;
          const work = await hashing(async () => (body = (await service.login(username, 'wrong', auto)).body));
          expect({ username, ...work, body }).toEqual({
            ...{ username, jobs: 1, rounds: 2 ** 5 },
            body: { error_code: 'LOGIN_401001', msg: expect.any(String) },
          });
        }
      });
    },
  );

  it('with HIDE_ACCOUNT_EXISTENCE and no newcomers, an unknown name takes the statements of a wrong password', async () => {
    await withDirectory({ HIDE_ACCOUNT_EXISTENCE: 'true' }, async (service) => {
      await service.givenUser('local');
      const statements = listStatements(service.app.get(DataSource));
      const sent = async (name: string) => statements(() => service.login(name, 'wrong', auto));
      expect(await sent('nobody')).toEqual(await sent('local'));
    });
  });

  it('a full hash queue refuses every name alike, before the captcha and the directory: the kind is not known yet', async () => {
    await withDirectory({ HASH_QUEUE_LIMIT: '1', HASH_QUEUE_MAX_WAIT_MS: '60000' }, async (service, { find }) => {
      await service.givenUser('local');
      await service.givenUser('remote', { provider: 'ldap' });
      const hasher = service.app.get<BcryptPasswordHasher>(PasswordHasher);
      let end!: (same: boolean) => void;
      const ended = new Promise<boolean>((resolve) => (end = resolve));
      jest.spyOn(hasher['engine'], 'verify').mockReturnValue(ended);
      const before = Array.from({ length: hasher.stats().concurrency + 1 }, (_, n) =>
        hasher.matches('x', null, { ip: `client ${n}` }),
      );
      const answers = [];
      for (const name of ['local', 'remote', 'nobody']) answers.push(await service.login(name, 'wrong', auto));
      expect(tally(answers)).toEqual({ COMMON_503001: 3 });
      expect(find).not.toHaveBeenCalled();
      expect(await logs(service)).toEqual([]);
      end(false);
      await Promise.all(before);
    });
  });

  it('a passing login of the directory leaves "ldap" in the event, never "auto"', async () => {
    await withDirectory(
      { WEBHOOK_URL: 'https://127.0.0.1:9/events', WEBHOOK_SECRET: webhookSecret },
      async (service) => {
        await service.givenUser('local');
        await service.givenUser('remote', { provider: 'ldap' });
        for (const name of ['local', 'remote', 'nobody']) await service.login(name, 'wrong', auto);
        const events = await service.database.rows<{ payload: string }>('SELECT payload FROM event_outbox');
        expect(events.flatMap(({ payload }) => /"provider":"(\w+)"/.exec(payload)?.[1] ?? []).sort()).toEqual([
          'ldap',
          'ldap',
          'password',
        ]);
      },
    );
  });
});
