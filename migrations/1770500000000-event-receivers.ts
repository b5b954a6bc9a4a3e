import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds further receivers of events, and the log of events from which each of them reads on its own (ADR 0047). */
export class EventReceivers1770500000000 implements RepeatableMigration {
  readonly name = 'EventReceivers1770500000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'event_receivers',
        [
          c.text('id', 40, { isPrimary: true }),
          c.text('url', 2048),
          c.text('format', 16),
          // JSON lists. Empty: all.
          c.longText('types'),
          c.longText('tenants'),
          c.text('audience', 255, nullable),
          // Sealed.
          c.longText('secret'),
          c.longText('old_secret', nullable),
          c.time('old_secret_expires', nullable),
          // 0 on, 1 paused.
          c.count('status'),
          // Grows with each change by an administrator: a sender that read the row before stops.
          c.count('version'),
          // The place in receiver_events up to which everything was sent or did not concern this receiver.
          c.long('position'),
          // Events up to this place are sent once more, with new ids.
          c.long('replay_until'),
          c.count('replays'),
          c.count('attempts'),
          c.time('next_attempt_at'),
          c.uuid('claimed_by', nullable),
          c.time('claimed_until', nullable),
          c.time('last_success_at', nullable),
          c.text('last_error', 64, nullable),
          c.time('last_error_at', nullable),
          c.time('failing_since', nullable),
          c.count('set_aside'),
          c.uuid('last_set_aside', nullable),
          c.time('created_at'),
          c.time('changed_at'),
        ],
        [{ columns: ['status', 'next_attempt_at'] }],
      ),
      c.table(
        'receiver_events',
        [
          c.serial('id'),
          c.uuid('event_id'),
          c.text('type', 64),
          c.uuid('user_id', nullable),
          c.text('tenant_id', 64, nullable),
          c.longText('payload', nullable),
          // The place in the order of the commits. Null until a process has given it.
          { ...c.long('place'), default: undefined, isNullable: true },
          c.time('created_at'),
        ],
        [
          { columns: ['place'] },
          { columns: ['event_id'] },
          { columns: ['user_id'] },
          { columns: ['created_at', 'place'] },
        ],
      ),
      // One row, the last place that was given.
      c.table('receiver_places', [c.count('id', { isPrimary: true }), c.long('last')]),
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
