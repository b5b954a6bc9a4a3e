import { DataSource } from 'typeorm';
import { isStoreFailure } from '../../src/platform/database/store-failure';
import { DomainError } from '../../src/shared/errors/domain-error';
import { User } from '../../src/users/user.entity';
import { TestService } from '../support/app';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { eventually } from '../support/servers/eventually';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { boundedAnswerMs } from '../support/settings';

jest.unmock('../../src/platform/database/time-limits');

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    // A TypeORM repository throws the error of the driver, which the error filter maps to COMMON_503001.
    (error: unknown) =>
      error instanceof DomainError
        ? error.entry.code
        : isStoreFailure(error)
          ? 'COMMON_503001'
          : `${(error as Error).name}: ${(error as Error).message}`,
  );

async function isConnected(id: number): Promise<boolean> {
  const rows = await MariaDbDatabases.shared().run(`SELECT id FROM information_schema.PROCESSLIST WHERE id = ${id}`);
  return (rows as unknown[]).length > 0;
}

/** The network between the program and MariaDB breaks. SQLite uses no network. */
(__DATABASE__ === 'mariadb' ? describe : describe.skip)('a connection that breaks', () => {
  let store: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;
  beforeAll(async () => {
    store = await migratedDatabase();
    const behind = await TcpProxy.before(store.url);
    proxy = behind.proxy;
    service = await TestService.start({ DATABASE_URL: behind.url, DATABASE_POOL_SIZE: '4' }, { store });
    await service.givenUser('known');
  });
  afterAll(async () => {
    await proxy.forward();
    await service.stop();
    await proxy.stop();
  });
  afterEach(async () => {
    await proxy.forward();
    expect(await outcome(service.database.rows('SELECT 1 AS one'))).toBe('done');
  });

  let unprepared = 0;
  /** Each way in which the program uses its database. `unprepared` makes a text that no connection has prepared. */
  const ways: [string, () => Promise<unknown>][] = [
    ['a statement', () => service.database.rows('SELECT 1 AS one')],
    ['a statement for the first time', () => service.database.rows(`SELECT ${++unprepared} AS one`)],
    ['a guarded write', () => service.database.won("UPDATE users SET nickname = 'x' WHERE uid = 'nobody'")],
    ['a repository', () => service.app.get(DataSource).getRepository(User).find()],
    ['a transaction', () => service.database.transaction(async (tx) => tx.rows(`SELECT ${++unprepared} AS one`))],
    [
      'a transaction under way',
      () =>
        service.database.transaction(async (tx) => {
          await tx.rows('SELECT 1 AS one');
          breakIt();
          await tx.affected("UPDATE users SET nickname = 'y'");
        }),
    ],
  ];
  let breakIt = () => undefined as void;

  /** Runs six at once on a pool of four connections: some find a connection, others wait for one. */
  async function expectOutage(what: string, way: () => Promise<unknown>): Promise<void> {
    const started = performance.now();
    expect({ what, outcomes: new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(() => outcome(way())))) }).toEqual({
      what,
      outcomes: new Set(['COMMON_503001']),
    });
    expect(performance.now() - started).toBeLessThan(boundedAnswerMs);
  }

  it.each(ways)('T233 a silent network: %s is answered with COMMON_503001 in time', async (what, way) => {
    // Opens idle connections, so that open ones become silent and not only new ones.
    await Promise.all([1, 2, 3, 4].map(() => service.database.rows('SELECT SLEEP(0.05) AS s')));
    breakIt = () => proxy.blackhole();
    if (what !== 'a transaction under way') proxy.blackhole();
    await expectOutage(what, way);
  });

  it('T233 a network that is silent after the handshake: the connection is neither used nor waited for', async () => {
    proxy.reset();
    await outcome(service.database.rows('SELECT 1 AS one'));
    await proxy.forward();
    // The proxy forwards the greeting and the login of a new connection, and nothing after them.
    const silence = setInterval(() => {
      if (proxy.connectionCount > opened) proxy.blackhole();
    }, 1);
    const opened = proxy.connectionCount;
    try {
      await expectOutage('a repository', () => service.app.get(DataSource).getRepository(User).find());
    } finally {
      clearInterval(silence);
    }
  });

  it.each(ways)(
    'a connection that is reset: %s is answered with COMMON_503001, not with an unknown error',
    async (what, way) => {
      breakIt = () => proxy.reset();
      if (what !== 'a transaction under way') proxy.reset();
      await expectOutage(what, way);
    },
  );

  it('T233 a connection that the server ends within a transaction: COMMON_503001, and nothing is written', async () => {
    const result = outcome(
      service.database.transaction(async (tx) => {
        await tx.affected("UPDATE users SET nickname = 'half'");
        const row = await tx.row<{ id: number }>('SELECT CONNECTION_ID() AS id');
        await MariaDbDatabases.shared().run(`KILL ${Number(row?.id)}`);
        await eventually(async () => !(await isConnected(Number(row?.id))), { what: 'the server ends the connection' });
        await tx.affected("UPDATE users SET nickname = 'done'");
      }),
    );
    expect(await result).toBe('COMMON_503001');
    expect(await service.database.rows("SELECT nickname FROM users WHERE nickname IN ('half', 'done')")).toEqual([]);
  });

  it('W48 each connection uses UTC and READ COMMITTED', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 4 }, () =>
        service.database.transaction(async (tx) => {
          await tx.rows('SELECT SLEEP(0.1) AS s');
          return tx.rows<{ name: string; value: string }>(
            "SELECT LOWER(VARIABLE_NAME) AS name, VARIABLE_VALUE AS value FROM information_schema.SESSION_VARIABLES WHERE VARIABLE_NAME IN ('TIME_ZONE', 'TX_ISOLATION') ORDER BY name",
          );
        }),
      ),
    );
    for (const session of sessions) expect(session.map(({ value }) => value)).toEqual(['+00:00', 'READ-COMMITTED']);
  });

  it('W48 the first connection of a program uses them as well', async () => {
    const one = await TestService.start({ DATABASE_URL: store.url, DATABASE_POOL_SIZE: '1' }, { store });
    const [row] = await one.database.rows('SELECT @@session.time_zone AS zone, @@session.tx_isolation AS isolation');
    expect(row).toEqual({ zone: '+00:00', isolation: 'READ-COMMITTED' });
    expect(one.app.get(DataSource).isInitialized).toBe(true);
    await one.stop({ keepStore: true });
  });
});
