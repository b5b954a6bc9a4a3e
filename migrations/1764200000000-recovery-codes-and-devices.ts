import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the recovery codes and the trusted devices of users (docs/spec/extensions.md#a). */
export class RecoveryCodesAndDevices1764200000000 implements RepeatableMigration {
  readonly name = 'RecoveryCodesAndDevices1764200000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'recovery_codes',
        [
          c.uuid('id', { isPrimary: true }),
          c.uuid('user_id'),
          c.text('code_hash', 64),
          c.text('key_id', 16),
          c.time('used_at', nullable),
          c.time('created_at'),
        ],
        [{ columns: ['user_id'] }],
      ),
      c.table(
        'trusted_devices',
        [
          c.uuid('id', { isPrimary: true }),
          c.uuid('user_id'),
          c.text('series_hash', 64),
          c.text('token_hash', 64),
          c.text('previous_hash', 64, nullable),
          c.time('replaced_at', nullable),
          c.count('credential_version'),
          c.text('ip', 45),
          c.text('user_agent', 512),
          c.time('last_used_at'),
          c.time('ended_at', nullable),
          c.time('expires'),
          c.time('created_at'),
        ],
        [{ columns: ['user_id'] }, { columns: ['series_hash'], unique: true }, { columns: ['expires'] }],
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
