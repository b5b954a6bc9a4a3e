import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

const tables = ['cooldowns', 'tenants', 'users'];

/**
 * Adds the counter that a transaction increases to lock a row. An UPDATE that changes nothing locks the row on its own
 * server only: the nodes of a cluster compare changed rows (ADR 0029).
 */
export class HeldRows1765300000000 implements RepeatableMigration {
  readonly name = 'HeldRows1765300000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables) {
      if (await runner.hasColumn(table, 'held')) continue;
      // Plain SQL, because TypeORM would copy the whole table on SQLite.
      await runner.query(`ALTER TABLE ${table} ADD COLUMN held integer NOT NULL DEFAULT 0`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables) {
      if (await runner.hasColumn(table, 'held')) await runner.query(`ALTER TABLE ${table} DROP COLUMN held`);
    }
  }
}
