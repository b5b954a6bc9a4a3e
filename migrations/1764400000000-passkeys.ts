import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the passkeys of users and their spent challenges (docs/spec/extensions.md#b). */
export class Passkeys1764400000000 implements RepeatableMigration {
  readonly name = 'Passkeys1764400000000';

  tables(c: Columns): Table[] {
    return [
      c.table(
        'passkeys',
        [
          c.uuid('id', { isPrimary: true }),
          c.uuid('user_id'),
          // A credential id has up to 1023 bytes, more than the key of an index can hold.
          c.text('credential_hash', 64),
          c.longText('credential_id'),
          c.longText('public_key'),
          c.long('counter'),
          c.text('transports', 255),
          c.text('name', 64),
          c.flag('backup_eligible'),
          c.flag('backed_up'),
          c.time('last_used_at', { isNullable: true }),
          c.time('created_at'),
        ],
        [{ columns: ['credential_hash'], unique: true }, { columns: ['user_id'] }],
      ),
      c.table(
        'passkey_challenges',
        [c.text('challenge_hash', 64, { isPrimary: true }), c.time('expires')],
        [{ columns: ['expires'] }],
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
