import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the applications that sign in here, and what the OpenID provider keeps (docs/spec/extensions.md#j). */
export class Applications1769100000000 implements RepeatableMigration {
  readonly name = 'Applications1769100000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'applications',
        [
          c.uuid('id', { isPrimary: true }),
          c.text('name', 255),
          c.text('type', 16),
          c.text('secret_hash', 64, nullable),
          // The former secret, while `rotate-secret` keeps it.
          c.text('old_secret_hash', 64, nullable),
          c.time('old_secret_expires', nullable),
          // Lists are JSON arrays of texts.
          c.longText('redirect_uris'),
          c.longText('post_logout_redirect_uris'),
          c.text('backchannel_logout_uri', 2048, nullable),
          c.longText('scopes'),
          c.longText('audience'),
          c.flag('first_party'),
          c.longText('allowed_tenants'),
          c.longText('allowed_groups'),
          c.text('logo_url', 2048, nullable),
          c.text('uri', 2048, nullable),
          c.flag('enabled'),
          c.time('created_at'),
          c.time('changed_at'),
        ],
        [],
      ),
      c.table(
        'oidc_records',
        [
          // HMACs: no id, code or token can be read from a copy of the table.
          c.text('id_hash', 64, { isPrimary: true }),
          c.text('kind', 32),
          c.longText('payload'),
          c.text('grant_hash', 64, nullable),
          c.text('uid_hash', 64, nullable),
          c.text('user_code_hash', 64, nullable),
          c.uuid('application_id', nullable),
          c.uuid('user_id', nullable),
          // The session of the service with which the record ends; null when it outlives the log-out.
          c.uuid('sid', nullable),
          c.count('credential_version', { isNullable: true, default: null }),
          c.time('consumed_at', nullable),
          c.time('expires', nullable),
          c.time('created_at'),
        ],
        [
          { columns: ['grant_hash'] },
          { columns: ['uid_hash'] },
          { columns: ['user_code_hash'], unique: true },
          { columns: ['user_id', 'kind'] },
          { columns: ['application_id', 'kind'] },
          { columns: ['sid'] },
          { columns: ['expires'] },
        ],
      ),
      c.table(
        'application_sessions',
        [
          c.uuid('sid', { isPrimary: true }),
          c.uuid('application_id', { isPrimary: true }),
          c.uuid('user_id'),
          // The id of the row that the end of the session writes into `application_logouts`: its key lets only one be written.
          c.uuid('logout_id'),
          c.time('began_at'),
        ],
        [{ columns: ['user_id'] }, { columns: ['began_at'] }],
      ),
      c.table(
        'application_logouts',
        [
          // Also the `jti` of the logout token, so that a receiver recognises a repetition.
          c.uuid('id', { isPrimary: true }),
          c.uuid('application_id'),
          c.uuid('user_id'),
          c.uuid('sid'),
          c.count('status'),
          c.count('attempts'),
          c.time('next_attempt_at'),
          c.uuid('claimed_by', nullable),
          c.time('claimed_until', nullable),
          c.time('created_at'),
          c.time('settled_at', nullable),
          // What the application answered at last: a status, or the kind of the failure.
          c.text('answer', 64, nullable),
        ],
        [
          // Each application has a sender of its own.
          { columns: ['application_id', 'status', 'next_attempt_at'] },
          { columns: ['status', 'created_at'] },
          { columns: ['user_id', 'created_at'] },
          { columns: ['sid'] },
          { columns: ['created_at'] },
        ],
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
