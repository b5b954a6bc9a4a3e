import { DatabaseClock } from '../../src/platform/database/database-clock';
import { TestService } from '../support/app';

const mariadb = __DATABASE__ === 'mariadb';

/** All decisions use the clock of the application. The clock of the database only serves to detect a wrong clock. */
describe('the clock of the application and the clock of the database', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const warnings = () => service.logLines.filter(({ msg }) => String(msg).startsWith('the clock is off'));

  // SQLite uses the clock of this machine, as the application does, so there is nothing to compare.
  it('a difference is logged once, and the readiness probe still gets 200', async () => {
    service.clock.set(new Date('2020-01-01T00:00:00Z'));
    for (let n = 0; n < 3; n++) expect((await service.get('/health/ready')).status).toBe(200);
    expect(warnings()).toHaveLength(mariadb ? 1 : 0);
  });

  it('measures how far the database is ahead', async () => {
    if (!mariadb) return expect(await service.app.get(DatabaseClock).offsetMs()).toBe(0);
    const databaseTime = async () =>
      (await service.database.row<{ now: Date }>('SELECT UTC_TIMESTAMP(3) AS now'))!.now.getTime();
    const before = await databaseTime();
    service.clock.set(new Date(before - 5000));
    const offset = await service.app.get(DatabaseClock).offsetMs();
    expect(offset).toBeGreaterThanOrEqual(5000);
    expect(offset).toBeLessThanOrEqual(5000 + (await databaseTime()) - before);
  });
});
