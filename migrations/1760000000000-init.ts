import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** The tables of docs/spec/service.md#2 with exactly its column names, and those of docs/spec/decisions.md#9. */
export class Init1760000000000 implements RepeatableMigration {
  readonly name = 'Init1760000000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    const primary = { isPrimary: true };
    return [
      c.table('tenants', [c.text('id', 64, primary), c.text('name', 255), c.time('created_at')]),
      c.table(
        'org_units',
        [c.text('id', 64, primary), c.text('tenant_id', 64), c.text('name', 255)],
        [{ columns: ['tenant_id'] }],
      ),
      c.table('user_tenants', [c.uuid('user_id', primary), c.text('tenant_id', 64, primary)]),
      c.table('user_org_units', [c.uuid('user_id', primary), c.text('org_unit_id', 64, primary)]),
      c.table(
        'users',
        [
          c.uuid('uid', primary),
          c.text('login_name', 255),
          c.text('login_name_key', 255),
          c.text('email', 255, nullable),
          c.text('email_key', 255, nullable),
          c.text('nickname', 255, nullable),
          c.text('password', 72, nullable),
          c.text('salt', 32, nullable),
          c.count('status', { default: 1 }),
          c.count('login_failed_count'),
          c.time('last_login_failed_time', nullable),
          c.time('last_login_success_time', nullable),
          c.text('mfa_type', 16, { default: "'email'" }),
          c.longText('topt_secret', nullable),
          c.count('mfa_failed_count'),
          c.time('mfa_blocked_until', nullable),
          c.text('provider', 16, { default: "'password'" }),
          c.flag('is_admin'),
          c.flag('must_change_password'),
          c.count('credential_version'),
          c.text('tenant_id', 64),
          c.text('org_unit_id', 64, nullable),
          c.time('created_at'),
        ],
        [
          { columns: ['login_name_key'], unique: true },
          { columns: ['email_key'], unique: true },
        ],
      ),
      c.table(
        'login_tokens',
        [
          c.uuid('jti', primary),
          c.text('token_type', 16),
          c.uuid('user_identity'),
          c.flag('is_revoked'),
          c.time('expires'),
          c.uuid('sid'),
          c.count('credential_version'),
          c.uuid('successor_jti', nullable),
          c.time('succeeded_at', nullable),
          c.time('created_at'),
        ],
        [{ columns: ['user_identity'] }, { columns: ['sid'] }, { columns: ['expires'] }],
      ),
      c.table('totp_secrets', [
        c.uuid('user_id', primary),
        c.longText('secret'),
        c.longText('uri'),
        c.time('confirmed_at', nullable),
        c.uuid('sid', nullable),
        c.text('ip', 45, nullable),
        c.count('fetched'),
        c.count('attempts'),
        c.time('expires', nullable),
        c.long('last_used_step'),
      ]),
      c.table(
        'pending_logins',
        [
          c.uuid('user_id', primary),
          c.uuid('id'),
          c.text('channel', 16),
          c.text('token_hash', 64),
          c.text('ip', 45),
          c.text('code_hash', 64, nullable),
          c.time('code_expires', nullable),
          c.count('attempts'),
          c.flag('is_closed'),
          c.count('credential_version'),
          c.time('expires'),
          c.time('created_at'),
        ],
        [{ columns: ['expires'] }],
      ),
      c.table(
        'user_change_password_request',
        [
          c.uuid('uid', primary),
          c.text('token_hash', 64),
          c.uuid('user_id'),
          c.count('type'),
          c.count('status'),
          c.count('credential_version'),
          c.time('expired'),
          c.time('created_at'),
        ],
        [
          { columns: ['token_hash'], unique: true },
          { columns: ['user_id', 'type', 'status'] },
          { columns: ['expired'] },
        ],
      ),
      c.table(
        'user_change_pwd_logs',
        [c.serial('id'), c.uuid('user_id'), c.count('type'), c.text('password', 72), c.time('created_at')],
        [{ columns: ['user_id', 'id'] }],
      ),
      c.table(
        'login_logs',
        [
          c.serial('id'),
          c.uuid('user_id', nullable),
          c.text('login_name', 255),
          c.text('provider', 16),
          c.text('ip', 45),
          c.text('user_agent', 512),
          c.text('outcome', 32),
          c.text('mfa', 16, nullable),
          c.text('request_id', 64),
          c.time('created_at'),
        ],
        [{ columns: ['user_id', 'created_at'] }, { columns: ['created_at'] }],
      ),
      c.table(
        'audit_logs',
        [
          c.serial('id'),
          c.text('event', 64),
          c.uuid('user_id', nullable),
          c.text('ip', 45, nullable),
          c.text('user_agent', 512, nullable),
          c.text('request_id', 64, nullable),
          c.longText('detail'),
          c.time('created_at'),
        ],
        [{ columns: ['user_id', 'created_at'] }, { columns: ['created_at'] }],
      ),
      c.table('system_configs', [
        c.text('tenant_id', 64, primary),
        c.text('group', 64, primary),
        c.text('key', 64, primary),
        c.longText('value'),
      ]),
      c.table(
        'cooldowns',
        [c.text('subject', 64, primary), c.text('kind', 16, primary), c.time('until')],
        [{ columns: ['until'] }],
      ),
      c.table('captcha_receipts', [c.text('token_hash', 64, primary), c.time('expires')], [{ columns: ['expires'] }]),
      c.table(
        'mail_outbox',
        [
          c.uuid('id', primary),
          c.text('kind', 32),
          c.longText('payload', nullable),
          c.count('status'),
          c.count('attempts'),
          c.time('next_attempt_at'),
          c.uuid('claimed_by', nullable),
          c.time('claimed_until', nullable),
          c.time('expires'),
          c.time('sent_at', nullable),
          c.time('created_at'),
        ],
        [{ columns: ['status', 'next_attempt_at'] }, { columns: ['created_at'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    const roots = (await runner.query(`SELECT id FROM tenants WHERE id = 'root'`)) as unknown[];
    if (roots.length > 0) return;
    await runner.query(`INSERT INTO tenants (id, name, created_at) VALUES ('root', 'Root', '2025-10-09 00:00:00.000')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
