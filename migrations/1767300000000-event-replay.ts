import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

const added = [
  // The event_id of the first sending, for an event that is sent once more as a new one.
  ['replay_of', 'varchar(36)'],
  // When an administrator asked for another sending. The back-off and the limit count from here.
  ['queued_at', 'time'],
  // 1 when the user was deleted: the payload is deleted as soon as the event is settled.
  ['erased', 'integer NOT NULL DEFAULT 0'],
] as const;

/** Adds what another sending of an event needs: its id, its time, and the mark of a deleted user (ADR 0026). */
export class EventReplay1767300000000 implements RepeatableMigration {
  readonly name = 'EventReplay1767300000000';

  async up(runner: QueryRunner): Promise<void> {
    const mysql = runner.dataSource.options.type === 'mysql';
    for (const [column, type] of added) {
      if (await runner.hasColumn('event_outbox', column)) continue;
      const written = type === 'time' ? `datetime${mysql ? '(3)' : ''}` : type;
      // Plain SQL, because TypeORM would copy the whole table on SQLite.
      await runner.query(`ALTER TABLE event_outbox ADD COLUMN ${column} ${written}`);
    }
    await new Columns(runner).addIndex('event_outbox', ['event_id']);
  }

  async down(runner: QueryRunner): Promise<void> {
    // By TypeORM, so that it forgets the index: it drops those that it knows together with the table.
    const table = await runner.getTable('event_outbox');
    const index = table?.indices.find(({ columnNames }) => columnNames.join() === 'event_id');
    if (table !== undefined && index !== undefined) await runner.dropIndex(table, index);
    for (const [column] of added) {
      if (await runner.hasColumn('event_outbox', column)) {
        await runner.query(`ALTER TABLE event_outbox DROP COLUMN ${column}`);
      }
    }
  }
}
