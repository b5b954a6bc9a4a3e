import { Database } from '../../src/platform/database/database';
import { TestService } from '../support/app';
import { eventually } from '../support/servers/eventually';

jest.unmock('../../src/platform/database/time-limits');

/** If the first connection kept the isolation level of the server, it would deadlock with the others. */
const onMariaDb = __DATABASE__ === 'mariadb' ? describe : describe.skip;

onMariaDb('connections of the pool', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  it('each connection uses READ COMMITTED and UTC, also the first one', async () => {
    const database = service.app.get(Database);
    const asked = await Promise.allSettled(
      Array.from({ length: 20 }, async () => {
        const rows = await database.rows<{ id: number; zone: string; isolation: string; wait: number }>(
          'SELECT CONNECTION_ID() AS id, @@session.time_zone AS zone, @@session.tx_isolation AS isolation, SLEEP(0.1) AS wait',
        );
        return rows[0];
      }),
    );
    // On a busy machine some wait longer for a connection than the time limits allow.
    const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    for (const reason of refused) expect(reason).toMatchObject({ entry: { code: 'COMMON_503001' } });
    const sessions = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(new Set(sessions.map((session) => session?.id)).size).toBeGreaterThan(1);
    expect(new Set(sessions.map((session) => `${session?.isolation} ${session?.zone}`))).toEqual(
      new Set(['READ-COMMITTED +00:00']),
    );
  });

  it('the server ends a wait for a row lock before the program gives up the statement', async () => {
    const database = service.app.get(Database);
    const row = await database.row<Record<string, unknown>>(
      'SELECT @@session.innodb_lock_wait_timeout AS row_wait, @@session.lock_wait_timeout AS table_wait, @@session.max_statement_time AS statement',
    );
    expect(Object.values(row ?? {}).map(Number)).toEqual([2, 2, 2.2]);
  });

  it('a statement that the program gave up keeps its connection until the server answers; then the connection is rolled back and reused', async () => {
    const one = await TestService.start({ DATABASE_POOL_SIZE: '1' });
    try {
      const { database } = one;
      const idOf = async () => (await database.row<{ id: number }>('SELECT CONNECTION_ID() AS id'))?.id;
      const id = await idOf();
      // Otherwise the server would end the statement before the program gives it up.
      await database.rows('SET SESSION max_statement_time = 0');
      const givenUp = database.transaction(async (tx) => {
        await tx.affected("UPDATE tenants SET name = 'half'");
        // Longer than the 2.4 s of the program, and short enough to be answered before the connection is abandoned.
        await tx.rows('SELECT SLEEP(3) AS s');
      });
      await expect(givenUp).rejects.toMatchObject({ entry: { code: 'COMMON_503001' } });
      expect(await eventually(idOf, { what: 'a connection' })).toBe(id);
      expect(await database.rows('SELECT name FROM tenants')).toEqual([{ name: 'Root' }]);
    } finally {
      await one.stop();
    }
  });

  it('a transaction whose wait for a row timed out is not repeated', async () => {
    const database = service.app.get(Database);
    let begun = 0;
    await database.transaction(async (holder) => {
      await holder.affected("UPDATE tenants SET name = 'held' WHERE id = 'root'");
      const blocked = database.transaction(async (tx) => {
        begun++;
        await tx.affected("UPDATE tenants SET name = 'x' WHERE id = 'root'");
      });
      await expect(blocked).rejects.toMatchObject({ entry: { code: 'COMMON_503001' } });
    });
    expect(begun).toBe(1);
  });
});
