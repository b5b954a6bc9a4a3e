import { Cooldowns } from '../../src/platform/database/cooldowns';
import { Database } from '../../src/platform/database/database';
import { TestService } from '../support/app';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

const kinds = ['otp', 'reset'] as const;

describe('a cooldown', () => {
  let service: TestService;
  let cooldowns: Cooldowns;
  let database: Database;
  beforeAll(async () => {
    service = await TestService.start();
    cooldowns = service.app.get(Cooldowns);
    database = service.app.get(Database);
  });
  afterAll(() => service.stop());

  /** As callers do it: the gate row before the transaction, the claim as the first statement in it. */
  async function enter(subject: string, kind: (typeof kinds)[number], seconds: number) {
    await cooldowns.ensureGate(subject, kind);
    return database.transaction((tx) => cooldowns.tryEnter(tx, subject, kind, seconds));
  }

  /**
   * Measured alternatives: a unique key is correct as well, but on an empty table up to 29 of 30 racers deadlocked. A
   * check before the insert let all of them in.
   */
  it.each(kinds)(
    '%s: of 30 parallel callers one enters, 29 get the remaining seconds, and there is no deadlock',
    async (kind) => {
      for (let round = 0; round < 5; round++) {
        const subject = `${kind}-racers-${round}`;
        const entries = await Promise.all(Array.from({ length: 30 }, () => enter(subject, kind, 60)));
        expect(entries.filter(({ entered }) => entered)).toHaveLength(1);
        expect(entries.filter((entry) => !entry.entered && entry.retryAfter === 60)).toHaveLength(29);
        expect(await service.count('cooldowns', 'subject = ?', [subject])).toBe(1);
      }
      if (__DATABASE__ === 'mariadb') expect(await MariaDbDatabases.shared().deadlocks(service.store.url)).toBe(0);
    },
  );

  it('ends exactly after its time, and reports the remaining time in whole seconds, at least 1', async () => {
    expect(await enter('clock', 'otp', 60)).toEqual({ entered: true });
    for (const [advance, retryAfter] of [
      [0, 60],
      [0.2, 60],
      [58.8, 1],
      [0.5, 1],
    ] as const) {
      service.clock.advanceSeconds(advance);
      expect(await enter('clock', 'otp', 60)).toEqual({ entered: false, retryAfter });
    }
    service.clock.advanceSeconds(0.5);
    expect(await enter('clock', 'otp', 60)).toEqual({ entered: true });
  });

  it('is separate for each subject and each kind', async () => {
    expect(await enter('a', 'otp', 60)).toEqual({ entered: true });
    expect(await enter('a', 'reset', 60)).toEqual({ entered: true });
    expect(await enter('b', 'otp', 60)).toEqual({ entered: true });
    expect(await enter('A', 'otp', 60)).toEqual({ entered: true });
  });

  it('is rolled back when the transaction fails', async () => {
    await cooldowns.ensureGate('undone', 'reset');
    await expect(
      database.transaction(async (tx) => {
        expect(await cooldowns.tryEnter(tx, 'undone', 'reset', 300)).toEqual({ entered: true });
        throw new Error('the mail could not be stored');
      }),
    ).rejects.toThrow('could not be stored');
    expect(await enter('undone', 'reset', 300)).toEqual({ entered: true });
  });
});
