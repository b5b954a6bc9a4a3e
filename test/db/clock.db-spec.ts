import { DatabaseClock } from '../../src/platform/database/database-clock';
import { TestService } from '../support/app';

const mariadb = __DATABASE__ === 'mariadb';

/** The application's clock decides alone; what the database has for a clock only shows that one of them is wrong. */
describe('the clock beside that of the database', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const warnings = () => service.logLines.filter(({ msg }) => String(msg).startsWith('the clock is off'));

  // SQLite tells the time of this machine, which is the application's own: there is nothing to compare.
  it('readiness warns once when it is off, and stays green', async () => {
    service.clock.set(new Date('2020-01-01T00:00:00Z'));
    for (let n = 0; n < 3; n++) expect((await service.get('/health/ready')).status).toBe(200);
    expect(warnings()).toHaveLength(mariadb ? 1 : 0);
  });

  it('tells how far the database is ahead', async () => {
    if (!mariadb) return expect(await service.app.get(DatabaseClock).offsetMs()).toBe(0);
    const [row] = await service.database.rows<{ now: Date }>('SELECT UTC_TIMESTAMP(3) AS now');
    service.clock.set(new Date(row!.now.getTime() - 5000));
    const offset = await service.app.get(DatabaseClock).offsetMs();
    expect(offset).toBeGreaterThanOrEqual(5000);
    expect(offset).toBeLessThan(7000);
  });
});
