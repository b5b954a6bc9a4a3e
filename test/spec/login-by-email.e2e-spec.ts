import { DataSource } from 'typeorm';
import { password, tally, TestService } from '../support/app';
import { countHashing } from '../support/count-hashing';
import { listStatements } from '../support/count-statements';

/** docs/spec/extensions.md#login-by-email */
describe('POST /login with the address of a local user', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ BCRYPT_COST: '5' });
  });
  afterAll(() => service.stop());

  const logged = (uid: string) =>
    service.database.rows<Record<string, unknown>>(
      'SELECT login_name, provider, outcome FROM login_logs WHERE user_id = ? ORDER BY id',
      [uid],
    );
  const failures = async (uid: string) => (await service.userRow(uid)).login_failed_count as number;

  it('opens the session of that user in any spelling of the address, and the log row has the login name', async () => {
    const { uid } = await service.givenUser('ann', { email: 'Ann.Lee@example.com' });
    const typed = ['Ann.Lee@example.com', 'ANN.LEE@EXAMPLE.COM', ' ann.lee@example.com ', 'ａnn.lee@example.com'];
    for (const address of typed) {
      const { status, body } = await service.login(address);
      expect([status, body.data?.user_info]).toEqual([
        200,
        expect.objectContaining({ uid, login_name: 'ann', email: 'Ann.Lee@example.com' }),
      ]);
    }
    expect(await logged(uid)).toEqual(
      typed.map(() => ({ login_name: 'ann', provider: 'password', outcome: 'success' })),
    );
  });

  it('has one counter and one lock with the login name: the second spelling is no second budget', async () => {
    const { uid } = await service.givenUser('bob');
    const typed = ['bob', 'bob@example.com', 'BOB@example.com', 'bob@example.com', 'bob', 'BOB'];
    const answers = [];
    for (const name of typed) answers.push(await service.login(name, 'wrong'));
    expect(answers.map(({ body }) => body.error_code as string)).toEqual([
      ...Array<string>(3).fill('LOGIN_401001'),
      ...Array<string>(3).fill('LOGIN_401004'),
    ]);
    expect(await failures(uid)).toBe(3);
    expect(tally([await service.login('bob@example.com'), await service.login('bob')])).toEqual({ LOGIN_401004: 2 });
    expect(new Set((await logged(uid)).map(({ login_name }) => login_name))).toEqual(new Set(['bob']));
  });

  it('a login name wins, also when it is the address of another user', async () => {
    const owner = await service.givenUser('carol', { email: 'shared@example.com' });
    const other = await service.givenUser('shared@example.com', {
      email: 'else@example.com',
      password: 'Other-Pass-9',
    });
    expect((await service.login('shared@example.com', 'Other-Pass-9')).body.data.user_info.uid).toBe(other.uid);
    expect((await service.login('shared@example.com', password)).body.error_code).toBe('LOGIN_401001');
    expect([await failures(owner.uid), await failures(other.uid)]).toEqual([0, 1]);
  });

  it('does not find directory users, deleted users and users without an address', async () => {
    await service.givenUser('remote', { provider: 'ldap' });
    await service.givenUser('bare', { email: null });
    for (const name of ['remote@example.com', 'bare@example.com', 'null', '@']) {
      expect((await service.login(name)).body.error_code).toBe('LOGIN_404001');
    }
    expect((await service.login('x'.repeat(250) + '\u{FDFA}')).body.error_code).toBe('LOGIN_404001');
  });

  it('with an explicit provider "ldap" it does not find the local user: a person of the directory may have the address', async () => {
    const { uid } = await service.givenUser('dora');
    expect((await service.login('dora@example.com', 'wrong', { provider: 'ldap' })).body.error_code).toBe(
      'LOGIN_404001',
    );
    expect(await failures(uid)).toBe(0);
  });

  it('leads through the forced change and the status like the login name', async () => {
    await service.givenUser('fresh', { temporary: true });
    expect((await service.login('fresh@example.com')).body.data).toMatchObject({ change_password: true });
    await service.givenUser('gone', { status: -1 });
    expect((await service.login('gone@example.com')).body.error_code).toBe('LOGIN_401011');
    expect((await service.login('gone@example.com', 'wrong')).body.error_code).toBe('LOGIN_401001');
  });

  it('takes as many statements and rounds of hashing as the login name, whether known or unknown', async () => {
    await service.givenUser('even');
    const statements = listStatements(service.app.get(DataSource));
    const hashing = countHashing(service);
    const costOf = async (name: string, typed = password) => {
      let sent: string[] = [];
      const work = await hashing(async () => {
        sent = await statements(() => service.login(name, typed));
      });
      return { sent, ...work };
    };
    expect(await costOf('even@example.com')).toEqual(await costOf('even'));
    expect(await costOf('even@example.com', 'wrong')).toEqual(await costOf('even', 'wrong'));
    expect(await costOf('nobody@example.com')).toEqual(await costOf('nobody'));
  });

  it.each([undefined, 'password', 'auto'])(
    'with LOGIN_BY_EMAIL=false an address is LOGIN_404001 and counts nothing (provider %s)',
    async (provider) => {
      const strict = await TestService.start({ LOGIN_BY_EMAIL: 'false' });
      try {
        const { uid } = await strict.givenUser('erin');
        expect((await strict.login('erin@example.com', 'wrong', { provider })).body.error_code).toBe('LOGIN_404001');
        expect((await strict.userRow(uid)).login_failed_count).toBe(0);
        expect((await strict.login('erin', password, { provider })).status).toBe(200);
        expect((await strict.get('/capabilities')).body.data.login_by_email).toBe(false);
      } finally {
        await strict.stop();
      }
    },
  );

  it('with HIDE_ACCOUNT_EXISTENCE an address of nobody is answered like a wrong password, after the same work', async () => {
    const hidden = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true', BCRYPT_COST: '5' });
    try {
      await hidden.givenUser('fay');
      const statements = listStatements(hidden.app.get(DataSource));
      const hashing = countHashing(hidden);
      const found = [];
      for (const name of ['fay', 'fay@example.com', 'nobody', 'nobody@example.com']) {
        let body: unknown;
        let sent: string[] = [];
        const work = await hashing(async () => {
          sent = await statements(async () => (body = (await hidden.login(name, 'wrong')).body));
        });
        found.push({ body, sent, ...work });
      }
      for (const one of found) expect(one).toEqual(found[0]);
      expect(found[0]).toMatchObject({ body: { error_code: 'LOGIN_401001' }, jobs: 1, rounds: 2 ** 5 });
    } finally {
      await hidden.stop();
    }
  });
});
