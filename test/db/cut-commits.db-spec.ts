import { DataSource } from 'typeorm';
import { mysqlDriver } from '../../src/platform/database/mysql-pool';
import { password, TestService } from '../support/app';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { codeOf, goodPassword, look, mailedToken, submit } from '../support/reset';
import { eventually } from '../support/servers/eventually';
import { TcpProxy } from '../support/servers/tcp-proxy';

/** The network breaks while a password is being changed. SQLite uses no network. */
(__DATABASE__ === 'mariadb' ? describe : describe.skip)('a COMMIT that is cut off', () => {
  let store: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;
  beforeAll(async () => {
    store = await migratedDatabase();
    const behind = await TcpProxy.before(store.url);
    proxy = behind.proxy;
    service = await TestService.start({ DATABASE_URL: behind.url, DATABASE_POOL_SIZE: '4' }, { store });
  });
  afterAll(async () => {
    await proxy.forward();
    await service.stop();
    await proxy.stop();
  });

  /** Cuts all connections when the transaction that changes a password commits. @param committed after it has */
  function cutAtCommit(committed: boolean): void {
    const driver = mysqlDriver(service.app.get(DataSource));
    const obtain = driver.obtainMasterConnection.bind(driver);
    let armed = true;
    const obtaining = jest.spyOn(driver, 'obtainMasterConnection').mockImplementation(async () => {
      const connection = await obtain();
      const query = connection.query.bind(connection) as (...given: unknown[]) => unknown;
      let changes = false;
      // The statements are prepared, so `execute` sends them. COMMIT is sent by `query`.
      const execute = connection.execute.bind(connection) as (...given: unknown[]) => unknown;
      connection.execute = ((...given: unknown[]) => {
        changes ||= JSON.stringify(given[0]).includes('INSERT INTO user_change_pwd_logs');
        return execute(...given);
      }) as never;
      connection.query = ((...given: unknown[]) => {
        const text = JSON.stringify(given[0]);
        changes ||= text.includes('INSERT INTO user_change_pwd_logs');
        if (!armed || !changes || !text.includes('COMMIT')) return query(...given);
        armed = false;
        obtaining.mockRestore();
        const done = given.at(-1) as (error: Error | null) => void;
        const lost = Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
        if (committed) return query(...given.slice(0, -1), () => (proxy.reset(), done(lost)));
        proxy.reset();
        return query(...given);
      }) as never;
      return connection;
    });
  }

  it.each([
    ['before it reaches the server', false],
    ['before the answer of the server arrives', true],
  ])(
    'T236 the COMMIT of a reset is cut off %s: 503, and password, history and link agree',
    async (_what, committed) => {
      const user = await service.givenUser(`cut-${String(committed)}`);
      const token = await mailedToken(service, user.email!);
      cutAtCommit(committed);
      expect(codeOf(await submit(service, token, goodPassword('cut')))).toBe('COMMON_503001');
      await proxy.forward();
      // The other connections of the pool were cut as well. Each of them fails once.
      const probes = () => Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => service.database.rows('SELECT 1 AS one')));
      const recovered = async () => (await probes()).every(({ status }) => status === 'fulfilled');
      await eventually(recovered, { what: 'a pool of good connections' });
      const works = async (typed: string) => (await service.login(user.loginName, typed)).status === 200;
      expect({
        link: codeOf(await look(service, token)),
        history: await service.count('user_change_pwd_logs', 'user_id = ? AND type = 2', [user.uid]),
        old: await works(password),
        new: await works(goodPassword('cut')),
      }).toEqual(
        committed
          ? { link: 'AUTH_401007', history: 1, old: false, new: true }
          : { link: 'success', history: 0, old: true, new: false },
      );
    },
  );
});
