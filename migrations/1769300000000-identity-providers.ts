import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Columns of `users`, each nullable, so that no row is written again. */
const userColumns = { identity_provider_id: 'varchar(40)', external_id: 'varchar(255)' } as const;

/** Adds the providers at which a company's people sign in (docs/spec/extensions.md#k), and who is bound to which of them. */
export class IdentityProviders1769300000000 implements RepeatableMigration {
  readonly name = 'IdentityProviders1769300000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'identity_providers',
        [
          // Chosen by the administrator, because it is part of the address that the provider returns to.
          c.text('id', 40, { isPrimary: true }),
          c.text('name', 255),
          c.text('issuer', 512),
          c.text('client_id', 255),
          // Sealed.
          c.longText('client_secret', nullable),
          c.time('client_secret_expires', nullable),
          // Lists are JSON arrays of texts, `claims` is a JSON object.
          c.longText('scopes'),
          c.longText('acr_values'),
          c.longText('domains'),
          c.longText('claims'),
          c.text('match_claim', 255, nullable),
          c.text('tenant_id', 64),
          c.flag('jit'),
          c.flag('trust_mfa'),
          c.flag('listed'),
          c.flag('enabled'),
          c.time('created_at'),
          c.time('changed_at'),
          c.count('held'),
        ],
        [],
      ),
      c.table(
        'external_identities',
        [
          c.text('identity_provider_id', 40, { isPrimary: true }),
          // SHA-256 of the `sub` in hexadecimal: case counts in a `sub`, and not in the order of these databases.
          c.text('subject_hash', 64, { isPrimary: true }),
          c.text('subject', 255),
          c.uuid('user_id'),
          c.time('bound_at'),
          c.time('last_used_at'),
          // When the provider told that this person has signed out there.
          c.time('signed_out_at', nullable),
        ],
        [{ columns: ['user_id'], unique: true }],
      ),
      c.table(
        'external_sign_ins',
        [
          // HMACs: no state, code or cookie can be read from a copy of the table.
          c.text('state_hash', 64, { isPrimary: true }),
          c.text('browser_hash', 64),
          c.text('identity_provider_id', 40),
          // Sealed: the nonce, the verifier of PKCE, and where the browser goes afterwards.
          c.longText('payload'),
          c.time('answered_at', nullable),
          c.text('code_hash', 64, nullable),
          c.uuid('user_id', nullable),
          // Sealed: what the provider said of this sign-in.
          c.longText('result', nullable),
          c.time('spent_at', nullable),
          // The pending login that waits for the second factor of this service.
          c.uuid('pending_id', nullable),
          c.time('expires'),
          c.time('created_at'),
        ],
        [{ columns: ['code_hash'], unique: true }, { columns: ['user_id'] }, { columns: ['expires'] }],
      ),
      c.table(
        'external_sessions',
        [
          // The session of the service, and the one of the provider to which it belongs.
          c.uuid('sid', { isPrimary: true }),
          c.text('identity_provider_id', 40),
          c.text('subject_hash', 64),
          c.text('provider_sid_hash', 64, nullable),
          c.uuid('user_id'),
          c.time('began_at'),
        ],
        [
          { columns: ['identity_provider_id', 'subject_hash'] },
          { columns: ['identity_provider_id', 'provider_sid_hash'] },
          { columns: ['user_id'] },
          { columns: ['began_at'] },
        ],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    for (const [column, type] of Object.entries(userColumns)) {
      // Plain SQL, because TypeORM would copy the whole table on SQLite.
      if (!(await runner.hasColumn('users', column))) {
        await runner.query(`ALTER TABLE users ADD COLUMN ${column} ${type} NULL`);
      }
    }
    await c.addIndex('users', ['external_id']);
    await c.addIndex('users', ['identity_provider_id']);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const column of Object.keys(userColumns)) {
      if (!(await runner.hasColumn('users', column))) continue;
      await c.dropIndex('users', [column]);
      await runner.query(`ALTER TABLE users DROP COLUMN ${column}`);
    }
    for (const { name } of this.tables(c).reverse()) await runner.dropTable(name, true);
  }
}
