import { AsyncLocalStorage } from 'node:async_hooks';
import { DataSource, type QueryRunner } from 'typeorm';
import { mysqlDriver } from '../../src/platform/database/mysql-pool';
import { TestService } from '../support/app';
import { Smtp } from '../support/servers/smtp';

describe('what the time of an answer tells (W12)', () => {
  it('the answer does not wait for a mail server that is silent (T136, T245)', async () => {
    const smtp = await Smtp.start();
    smtp.hang('greeting');
    const service = await TestService.start({ SMTP_URL: smtp.url });
    try {
      for (let n = 0; n < 5; n++) {
        await service.givenUser(`user${n}`);
        const begun = performance.now();
        expect((await service.post('/forget-password', { email: `user${n}@example.com` })).status).toBe(200);
        expect(performance.now() - begun).toBeLessThan(500);
      }
    } finally {
      await smtp.stop();
      await service.stop();
    }
  });

  /**
   * Where existence is hidden, known and unknown addresses cost the store the same number of statements. Counted, not
   * timed: on a busy machine a difference of one statement drowns in the noise, for the test though not for an attacker
   * who asks a thousand times.
   */
  it('a known and an unknown address are the same number of statements', async () => {
    const service = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true' });
    try {
      const statements = countStatements(service.app.get(DataSource));
      const ask = (email: string) => statements(() => service.post('/forget-password', { email }));
      await service.givenUser('known');
      await service.givenUser('disabled', { status: -1 });
      const rounds = [];
      // The first request of an address makes its gate, the second is throttled, the third finds the gate open.
      for (const seconds of [0, 0, 300]) {
        service.clock.advanceSeconds(seconds);
        rounds.push([
          await ask('known@example.com'),
          await ask('unknown@example.com'),
          await ask('disabled@example.com'),
        ]);
      }
      for (const [known, unknown, disabled] of rounds) expect([unknown, disabled]).toEqual([known, known]);
      const [, throttled, made] = rounds.map(([known]) => known ?? 0);
      expect(throttled).toBeGreaterThan(3);
      expect(made).toBeGreaterThan(throttled ?? 0);
    } finally {
      await service.stop();
    }
  });
});

/** Statements of one call only: the mail worker asks the same store in between. */
function countStatements(dataSource: DataSource): (run: () => Promise<unknown>) => Promise<number> {
  const calls = new AsyncLocalStorage<{ count: number }>();
  const note = () => {
    const call = calls.getStore();
    if (call !== undefined) call.count += 1;
  };
  if (dataSource.options.type === 'mysql') {
    const driver = mysqlDriver(dataSource);
    const obtain = driver.obtainMasterConnection.bind(driver);
    const known = new WeakSet<object>();
    driver.obtainMasterConnection = async () => {
      const connection = await obtain();
      if (!known.has(connection)) {
        known.add(connection);
        for (const verb of ['query', 'execute'] as const) {
          const original = connection[verb].bind(connection) as (...given: unknown[]) => unknown;
          connection[verb] = ((...given: unknown[]) => {
            note();
            return original(...given);
          }) as never;
        }
      }
      return connection;
    };
  } else {
    const driver = dataSource.driver as unknown as { createQueryRunner(mode: string): QueryRunner };
    const create = driver.createQueryRunner.bind(driver);
    driver.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (...given: unknown[]) => Promise<unknown>;
      runner.query = ((...given: unknown[]) => {
        note();
        return query(...given);
      }) as never;
      return runner;
    };
  }
  return async (run) => {
    const call = { count: 0 };
    await calls.run(call, run);
    return call.count;
  };
}
