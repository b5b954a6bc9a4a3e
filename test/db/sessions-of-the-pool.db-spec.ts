import { Database } from '../../src/platform/database/database';
import { TestService } from '../support/app';

declare const __DATABASE__: 'sqlite' | 'mariadb';

/** The connection that was opened before the pool was bound kept the server's isolation and deadlocked with its neighbours. */
const onMariaDb = __DATABASE__ === 'mariadb' ? describe : describe.skip;

onMariaDb('connections of the pool', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  it('every one is at READ COMMITTED and in UTC, the first one too', async () => {
    const database = service.app.get(Database);
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const rows = await database.rows<{ id: number; zone: string; isolation: string; wait: number }>(
          'SELECT CONNECTION_ID() AS id, @@session.time_zone AS zone, @@session.tx_isolation AS isolation, SLEEP(0.1) AS wait',
        );
        return rows[0];
      }),
    );
    expect(new Set(sessions.map((session) => session?.id)).size).toBeGreaterThan(1);
    expect(new Set(sessions.map((session) => `${session?.isolation} ${session?.zone}`))).toEqual(
      new Set(['READ-COMMITTED +00:00']),
    );
  });
});
