import { DataSource } from 'typeorm';
import type { Transaction } from '../../src/platform/database/database';
import { Database } from '../../src/platform/database/database';
import { SystemConfig } from '../../src/platform/settings/system-config.entity';
import { TestService } from '../support/app';

const mariadb = __DATABASE__ === 'mariadb';

describe('transactions', () => {
  let service: TestService;
  let database: Database;
  beforeAll(async () => {
    service = await TestService.start();
    database = service.app.get(Database);
    await database.affected(
      "INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES ('t', 'g', 'counter', '0')",
    );
    await database.affected(
      "INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES ('t', 'g', 'other', '0')",
    );
  });
  afterAll(() => service.stop());
  beforeEach(() => database.affected("UPDATE system_configs SET value = '0' WHERE tenant_id = 't'"));

  const add = (sql: Pick<Transaction, 'affected'>, key = 'counter') =>
    sql.affected("UPDATE system_configs SET value = value + 1 WHERE tenant_id = 't' AND `key` = ?", [key]);
  const valueOf = async (key = 'counter') =>
    Number(
      (
        await database.row<{ value: string }>("SELECT value FROM system_configs WHERE tenant_id = 't' AND `key` = ?", [
          key,
        ])
      )?.value,
    );

  /**
   * TypeORM gives all callers on the one SQLite connection the same query runner: 29 of 30 parallel transactions failed,
   * and a single statement became part of another transaction and was rolled back with it.
   */
  it('30 parallel transactions, a third of them rolled back, in parallel with 50 single statements store exactly what was committed', async () => {
    const works = Array.from({ length: 30 }, (_, n) =>
      database
        .transaction(async (tx) => {
          await add(tx);
          await new Promise((resolve) => setImmediate(resolve));
          await add(tx);
          if (n % 3 === 0) throw new Error('changed its mind');
        })
        .then(
          () => 'committed',
          (error: Error) => error.message,
        ),
    );
    const singles = Array.from({ length: 50 }, () => add(database));
    const outcomes = await Promise.all(works);
    await Promise.all(singles);
    expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === 'changed its mind')).toHaveLength(10);
    expect(await valueOf()).toBe(20 * 2 + 50);
  });

  it('only the transaction itself sees its changes before the commit, through repositories and plain SQL', async () => {
    let halfway!: () => void;
    const reached = new Promise<void>((resolve) => (halfway = resolve));
    const outside = mariadb ? reached.then(() => valueOf()) : undefined;
    await database.transaction(async (tx) => {
      await add(tx);
      const row = await tx.manager.findOneByOrFail(SystemConfig, { tenantId: 't', group: 'g', key: 'counter' });
      expect(row.value).toBe('1');
      await tx.manager.update(SystemConfig, { tenantId: 't', key: 'counter' }, { value: '5' });
      expect(await tx.row("SELECT value FROM system_configs WHERE tenant_id = 't' AND `key` = 'counter'")).toEqual({
        value: '5',
      });
      halfway();
      // SQLite has one connection, so a reader there waits until the transaction ends.
      if (outside !== undefined) expect(await outside).toBe(0);
    });
    expect(await valueOf()).toBe(5);
  });

  it('a failed transaction leaves nothing, and its connection can be used again', async () => {
    for (let n = 0; n < 20; n++) {
      await expect(
        database.transaction(async (tx) => {
          await add(tx);
          await tx.rows('SELECT nonsense FROM nowhere_at_all');
        }),
      ).rejects.toThrow();
    }
    expect(await valueOf()).toBe(0);
    await database.transaction((tx) => add(tx));
    expect(await valueOf()).toBe(1);
  });

  it('a transaction that lost a deadlock is repeated: both succeed, and neither is applied twice', async () => {
    let attempts = 0;
    let first = true;
    let bothAreIn!: () => void;
    const meeting = new Promise<void>((resolve) => (bothAreIn = resolve));
    const crossing = (one: string, two: string) =>
      database.transaction(async (tx) => {
        attempts++;
        await add(tx, one);
        if (mariadb && attempts <= 2) {
          if (!first) bothAreIn();
          first = false;
          await meeting;
        }
        await add(tx, two);
        return one;
      });
    expect(await Promise.all([crossing('counter', 'other'), crossing('other', 'counter')])).toEqual([
      'counter',
      'other',
    ]);
    expect([await valueOf('counter'), await valueOf('other')]).toEqual([2, 2]);
    // SQLite has one writer at a time, so no deadlock can occur.
    expect(attempts).toBe(mariadb ? 3 : 2);
  });

  it('a guarded write that matches two rows throws', async () => {
    await expect(database.won("UPDATE system_configs SET value = '9' WHERE tenant_id = 't'")).rejects.toThrow('2 rows');
    expect(await database.won("UPDATE system_configs SET value = '9' WHERE tenant_id = 'nobody'")).toBe(false);
  });

  it('W42 a query by undefined or null throws instead of finding the first row', async () => {
    const rows = service.app.get(DataSource).getRepository(SystemConfig);
    for (const key of [undefined, null]) {
      await expect((async () => rows.findOneBy({ key: key as never }))()).rejects.toThrow();
    }
  });

  it('W42 a statement refuses an object or an array as a value', async () => {
    const user = await service.givenUser('first');
    for (const value of [{ uid: 1 }, [user.uid], { toString: () => user.uid }, [[user.uid]]]) {
      await expect(database.rows('SELECT uid FROM users WHERE uid = ?', [value as never])).rejects.toThrow();
      await expect(
        database.transaction((tx) => tx.rows('SELECT uid FROM users WHERE uid = ?', [value as never])),
      ).rejects.toThrow();
    }
  });

  describe('afterCommit', () => {
    it('is called after the commit, never after a rollback, and once for work that ran twice', async () => {
      const told: string[] = [];
      await database.transaction(async (tx) => {
        await add(tx);
        tx.afterCommit(() => told.push('committed'));
        expect(told).toEqual([]);
      });
      const visible = await valueOf();
      await database
        .transaction((tx) => {
          tx.afterCommit(() => told.push('rolled back'));
          return Promise.reject(new Error('changed its mind'));
        })
        .catch(() => undefined);
      let runs = 0;
      await database.transaction((tx) => {
        tx.afterCommit(() => told.push(`run ${++runs}`));
        if (told.length === 1) {
          told.push('deadlock');
          const code = mariadb ? 'ER_LOCK_DEADLOCK' : 'SQLITE_BUSY';
          return Promise.reject(Object.assign(new Error('deadlock'), { code }));
        }
        return Promise.resolve();
      });
      expect({ told, visible }).toEqual({ told: ['committed', 'deadlock', 'run 1'], visible: 1 });
    });

    it('is called at once outside of a transaction, and in the transaction that `together` opens', async () => {
      const told: string[] = [];
      database.afterCommit(() => told.push('single'));
      await database.together((sql) => {
        sql.afterCommit(() => told.push('opened'));
        told.push('work');
        return Promise.resolve();
      });
      await database.transaction((tx) =>
        tx.together((sql) => {
          expect(sql).toBe(tx);
          return Promise.resolve();
        }),
      );
      expect(told).toEqual(['single', 'work', 'opened']);
    });
  });
});
