import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { CommandLine } from '../support/command-line';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { password, testSettings } from '../support/settings';

const file = 'people.csv';
const deadMail = '0c9f6a1e-5d2b-4c3a-9e8f-7a6b5c4d3e2f';

/** Each command that changes something, with its audit event. A command may need the rows of the commands before it. */
const commands: [string[], string][] = [
  [['user', 'create', '--login-name', 'ann', '--email', 'ann@example.com', '--password', password], 'USER_CREATED'],
  [['user', 'import', file], 'USER_IMPORTED'],
  [['user', 'set-mfa', 'bob', 'totp'], 'MFA_TYPE_CHANGED'],
  [['user', 'set-password', 'bob', '--password', password], 'USER_PASSWORD_SET_BY_OPERATOR'],
  [['user', 'unlock', 'bob'], 'USER_UNLOCKED'],
  [['user', 'reset-totp', 'bob'], 'TOTP_RESET'],
  [['user', 'require-password-change', 'bob'], 'USER_PASSWORD_CHANGE_REQUIRED'],
  [['user', 'recovery-codes', 'bob', '--revoke'], 'RECOVERY_CODES_REVOKED'],
  [['user', 'devices', 'bob', '--revoke'], 'TRUSTED_DEVICES_REVOKED'],
  [['user', 'passkeys', 'bob', '--revoke'], 'PASSKEYS_REVOKED'],
  [['user', 'revoke-tokens', 'bob'], 'USER_TOKENS_REVOKED'],
  [['user', 'revoke-tokens', '--where', 'status=1'], 'REVOCATION_BATCH'],
  [['user', 'invite', 'bob'], 'USER_INVITED'],
  [['user', 'set-email', 'bob', 'bob@example.org'], 'USER_CHANGED'],
  [['user', 'set-nickname', 'bob', 'Bob'], 'USER_CHANGED'],
  [['user', 'set-org-unit', 'bob', '--none'], 'USER_CHANGED'],
  [['user', 'set-language', 'bob', 'de'], 'USER_CHANGED'],
  [['user', 'set-tenant', 'bob', 'acme'], 'USER_CHANGED'],
  [['user', 'set-admin', 'bob', 'on'], 'USER_ADMIN_CHANGED'],
  [['user', 'set-role', 'ann', 'help_desk'], 'USER_ROLE_CHANGED'],
  [['user', 'set-status', 'bob', '-1'], 'USER_STATUS_CHANGED'],
  [['user', 'delete', 'ann', '--yes'], 'USER_DELETED'],
  [['config', 'set', 'SMTP', 'HOST', 'smtp.example.com'], 'CONFIG_CHANGED'],
  [['config', 'unset', 'SMTP', 'HOST'], 'CONFIG_CHANGED'],
  [['tenant', 'create', 'globex', 'Globex'], 'TENANT_CREATED'],
  [['tenant', 'rename', 'globex', 'Globex 2'], 'TENANT_RENAMED'],
  [['org-unit', 'create', 'sales', 'Sales', '--tenant', 'globex'], 'ORG_UNIT_CREATED'],
  [['org-unit', 'rename', 'sales', 'Sales 2'], 'ORG_UNIT_RENAMED'],
  [['mail', 'retry', deadMail], 'MAIL_RETRIED'],
  [['mail', 'test', 'person@example.com'], 'SMTP_TESTED'],
  [['purge'], 'PURGE_FINISHED'],
  [['keys', 'reseal'], 'RESEAL_STARTED'],
];

/** Milliseconds for two dozen processes one after the other on a busy machine. */
const manyProcesses = 900_000;

const changed = [
  'tenants',
  'org_units',
  'users',
  'user_change_pwd_logs',
  'user_change_password_request',
  'mail_outbox',
  'system_configs',
];

describe('the audit of the command line', () => {
  let databaseUrl: string;
  let directory: string;
  let sql: Connection;

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    directory = await mkdtemp(join(tmpdir(), 'cli-audit-'));
    await writeFile(join(directory, file), 'login_name,email\nbob,bob@example.com\n');
    sql = await createConnection({ uri: databaseUrl });
    await sql.query(
      `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at)
       VALUES ('${deadMail}', 'otp', 'x', 2, 1, NOW(), NOW() + INTERVAL 1 DAY, NOW())`,
    );
    await sql.query("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', NOW(3))");
  });
  afterAll(async () => {
    await sql.end();
    await rm(directory, { recursive: true });
    await MariaDbDatabases.shared().drop(databaseUrl);
    await commandLine.stop();
  });

  // The other files of the command line run the first command of each kind as a process. This one is about their rows.
  const commandLine = new CommandLine(0);
  const run = (args: string[]) =>
    commandLine.run(args, { env: { ...testSettings, DATABASE_URL: databaseUrl }, cwd: directory });
  const rows = async (statement: string) => (await sql.query(statement))[0] as Record<string, unknown>[];
  const newest = async () => (await rows('SELECT event, actor_id FROM audit_logs ORDER BY id DESC LIMIT 1'))[0];

  it(
    'no command changes anything when its audit row cannot be written',
    async () => {
      // The account that the commands change.
      expect(await run(['user', 'create', '--login-name', 'bob', '--email', 'bob@example.com'])).toMatchObject({
        code: 0,
      });
      await sql.query("INSERT INTO system_configs VALUES ('root', 'SMTP', 'HOST', 'former.example.com')");
      await sql.query('RENAME TABLE audit_logs TO audit_logs_away');
      const state = () => Promise.all(changed.map((table) => rows(`SELECT * FROM ${table}`)));
      const before = await state();
      await writeFile(join(directory, file), 'login_name,email\ncarl,carl@example.com\n');
      for (const [args] of commands)
        expect({ args, ended: await run(args) }).toMatchObject({ args, ended: { code: 1 } });
      expect(await state()).toEqual(before);
      await sql.query('RENAME TABLE audit_logs_away TO audit_logs');
      await sql.query("DELETE FROM users WHERE login_name = 'bob'");
      await writeFile(join(directory, file), 'login_name,email\nbob,bob@example.com\n');
    },
    manyProcesses,
  );

  it(
    'the audit row of each change names the actor, wherever --actor stands',
    async () => {
      for (const [n, [args, event]] of commands.entries()) {
        const actor = `operator ${n}`;
        const ended = await run(n % 2 ? ['--actor', actor, ...args] : [...args, '--actor', actor]);
        expect({ args, ...ended }).toMatchObject({ args, code: 0, stderr: '' });
        expect({ args, row: await newest() }).toEqual({ args, row: { event, actor_id: actor } });
      }
    },
    manyProcesses,
  );

  it('without --actor the actor is the system user, and special characters in --actor are stored as they are', async () => {
    expect(await run(['user', 'unlock', 'bob'])).toMatchObject({ code: 0 });
    expect(await newest()).toEqual({ event: 'USER_UNLOCKED', actor_id: userInfo().username });
    expect(await run(['user', 'unlock', 'bob', '--actor', " 王'; DROP TABLE users -- "])).toMatchObject({ code: 0 });
    expect(await newest()).toEqual({ event: 'USER_UNLOCKED', actor_id: "王'; DROP TABLE users --" });
  });

  it.each(['', '  ', 'a\u0007b', 'n'.repeat(256)])(
    'the actor %j is refused with one line, and nothing changes',
    async (actor) => {
      const before = await rows('SELECT id FROM audit_logs');
      const { code, stderr } = await run(['user', 'unlock', 'bob', '--actor', actor]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^error: [^\n]*--actor[^\n]*\n$/);
      expect(await rows('SELECT id FROM audit_logs')).toEqual(before);
    },
  );
});
