import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the events that wait for the webhook receiver, and the users whose events wait (ADR 0026). */
export class EventOutbox1764500000000 implements RepeatableMigration {
  readonly name = 'EventOutbox1764500000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'event_outbox',
        [
          c.serial('id'),
          c.uuid('event_id'),
          c.text('type', 64),
          // The user of the event, or its event_id when it has no user.
          c.uuid('stream'),
          c.longText('payload', nullable),
          c.count('status'),
          // 1 until a row of event_streams is known to exist.
          c.flag('fresh'),
          c.time('sent_at', nullable),
          c.time('created_at'),
        ],
        [
          { columns: ['stream', 'status', 'id'] },
          { columns: ['fresh', 'created_at'] },
          { columns: ['status', 'created_at'] },
        ],
      ),
      c.table(
        'event_streams',
        [
          c.uuid('stream', { isPrimary: true }),
          c.count('status'),
          c.count('attempts'),
          c.count('admissions'),
          c.time('next_attempt_at'),
          c.uuid('claimed_by', nullable),
          c.time('claimed_until', nullable),
        ],
        [{ columns: ['status', 'next_attempt_at'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
