import { checkClock } from '../../src/admin/checks/database-checks';
import { clockState, DatabaseClock } from '../../src/platform/database/database-clock';
import { TestService } from '../support/app';
import { RunningClock } from '../support/fakes';

const mariadb = __DATABASE__ === 'mariadb';

/** All decisions use the clock of the application. The clock of the database only serves to detect a wrong clock. */
describe('the clock of the application and the clock of the database', () => {
  const clock = new RunningClock();
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({}, { clock });
  });
  afterAll(() => service.stop());

  const said = (text: string) => service.logLines.filter(({ msg }) => String(msg).startsWith(text)).length;
  const ready = async () => {
    const { status, body } = await service.get('/health/ready');
    return { status, clock: body.clock };
  };
  const behindBy = (seconds: number) => clock.behindBy(seconds);

  // SQLite uses the clock of this machine, as the application does, so there is nothing to compare.
  it('a replica whose clock is an hour off says so once and is not ready, until the clock is right', async () => {
    behindBy(3600);
    for (let n = 0; n < 3; n++) {
      expect(await ready()).toEqual(mariadb ? { status: 503, clock: 'far off' } : { status: 200, clock: undefined });
    }
    expect(said('the clock is off')).toBe(mariadb ? 1 : 0);
    behindBy(0);
    expect(await ready()).toEqual({ status: 200, clock: undefined });
    expect(said('the clock agrees')).toBe(mariadb ? 1 : 0);
  });

  it.each([
    [4000, 'ok'],
    [-5100, 'off'],
    [59_000, 'off'],
    [-61_000, 'far off'],
    [3_600_000, 'far off'],
  ] as const)('an offset of %i ms is %s: it warns above 5 s, and is red above 60 s', (offset, state) => {
    expect(clockState(offset)).toBe(state);
  });

  it('doctor warns of 20 s, and fails with two minutes', async () => {
    const doctor = async () => (await checkClock(service.app.get(DatabaseClock))).status;
    behindBy(0);
    expect(await doctor()).toBe('ok');
    behindBy(20);
    expect(await doctor()).toBe(mariadb ? 'warn' : 'ok');
    behindBy(-120);
    expect(await doctor()).toBe(mariadb ? 'problem' : 'ok');
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
