import type { DynamicModule } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource, type EntityMetadata, MigrationExecutor, type QueryRunner } from 'typeorm';
import { NicknameKey1766900000000 } from '../../migrations/1766900000000-nickname-key';
import { PendingReauthentications1767620000000 } from '../../migrations/1767620000000-pending-reauthentications';
import { UserLanguage1768000000000 } from '../../migrations/1768000000000-user-language';
import { UserRoles1769700000000 } from '../../migrations/1769700000000-user-roles';
import { Database } from '../../src/platform/database/database';
import { migrate, pendingMigrations } from '../../src/platform/database/migrator';
import { timeOf } from '../../src/platform/database/sql';
import { giveEachCallerItsOwnRunner } from '../../src/platform/database/sqlite-runners';
import { migrationOptions } from '../../src/platform/database/typeorm-options';
import { NicknameKeys } from '../../src/users/nickname-keys';
import { AppModule } from '../../src/app.module';
import { RetentionModule } from '../../src/retention/retention.module';
import type { AppConfig } from '../../src/settings/app-config';
import { TestService } from '../support/app';
import type { RepeatableMigration } from '../../migrations/repeatable';
import { freshDatabase, type TestDatabase } from '../support/database';

/** The columns of docs/spec/service.md#2, which spells `topt_secret` like this, and of docs/spec/decisions.md#9. */
const specified: Record<string, string[]> = {
  users: [
    'uid',
    'password',
    'salt',
    'status',
    'login_failed_count',
    'last_login_failed_time',
    'last_login_success_time',
    'mfa_type',
    'topt_secret',
    'login_name',
    'email',
    'nickname',
    'is_admin',
    'tenant_id',
    'org_unit_id',
    'provider',
    'created_at',
  ],
  login_tokens: ['jti', 'token_type', 'user_identity', 'is_revoked', 'expires'],
  totp_secrets: ['user_id', 'secret', 'uri', 'confirmed_at', 'sid', 'ip', 'fetched', 'expires', 'last_used_step'],
  login_logs: ['user_id', 'login_name', 'provider', 'ip', 'user_agent', 'outcome', 'mfa', 'request_id', 'created_at'],
  user_change_password_request: ['uid', 'user_id', 'type', 'status', 'expired', 'created_at'],
  user_change_pwd_logs: ['user_id', 'type', 'password', 'created_at'],
  audit_logs: ['user_id', 'actor_id', 'ip', 'user_agent', 'request_id', 'detail', 'created_at'],
  system_configs: ['tenant_id', 'group', 'key', 'value'],
  tenants: ['id', 'name'],
  org_units: ['id', 'tenant_id', 'name'],
};

const promised = JSON.parse(readFileSync(join(__dirname, '../promise/tables.json'), 'utf8')) as Record<
  string,
  { readonly columns: Record<string, { readonly null: boolean }> }
>;

const identifiers =
  /^(uid|id|jti|sid|user_id|actor_id|user_identity|login_name_key|email_key|token_hash|series_hash|code_hash|credential_hash|challenge_hash|tenant_id|subject)$/;

const isCurrent = async (dataSource: DataSource) => (await pendingMigrations(dataSource)).length === 0;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly length: string;
  readonly nullable: boolean;
  readonly primary: boolean;
  readonly collation: string | undefined;
}

async function tablesOf(runner: QueryRunner): Promise<Map<string, Column[]>> {
  const names: { name: string }[] = await runner.query(
    __DATABASE__ === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
  );
  // For a generated column, TypeORM reads a table that it makes itself when it makes the schema. Here it does not.
  Object.assign(runner, { selectTypeormMetadataSql: () => ({ query: 'SELECT NULL AS value', parameters: [] }) });
  const tables = await runner.getTables(names.map(({ name }) => name));
  return new Map(
    tables.map((table) => [
      // On MySQL, TypeORM returns `database.table`.
      table.name.slice(table.name.lastIndexOf('.') + 1),
      table.columns.map((column) => ({
        name: column.name,
        type: column.type,
        length: column.length,
        nullable: column.isNullable,
        primary: column.isPrimary,
        collation: column.collation,
      })),
    ]),
  );
}

/** The service, and `purge`, which has a table that nothing else reads. */
const withPurge = (config: AppConfig): DynamicModule => ({
  module: class WithPurge {},
  imports: [AppModule.with(config), RetentionModule],
});

describe('the schema', () => {
  let store: TestDatabase;
  let service: TestService;
  let tables: Map<string, Column[]>;
  let entities: EntityMetadata[];
  beforeAll(async () => {
    store = await freshDatabase();
    // `migrate`, as the operator runs it, on an empty database.
    expect(await migrate(store.url)).not.toEqual([]);
    service = await TestService.start({ MIGRATE_ON_START: 'false' }, { store, module: withPurge });
    const dataSource = service.app.get(DataSource);
    const runner = dataSource.createQueryRunner();
    tables = await tablesOf(runner);
    await runner.release();
    entities = dataSource.entityMetadatas;
  });
  afterAll(() => service.stop());

  it.each(Object.entries(specified))('%s has the specified columns', (table, columns) => {
    expect((tables.get(table) ?? []).map(({ name }) => name)).toEqual(expect.arrayContaining(columns));
  });

  it('has every column that version 1 promises, with the promised NULL (docs/promise.md)', () => {
    for (const [table, { columns }] of Object.entries(promised)) {
      const present = new Map((tables.get(table) ?? []).map(({ name, nullable }) => [name, { null: nullable }]));
      const kept = Object.keys(columns).map((name) => [`${table}.${name}`, present.get(name)]);
      expect(kept).toEqual(
        Object.entries(columns).map(([name, { null: nullable }]) => [`${table}.${name}`, { null: nullable }]),
      );
    }
  });

  it('has the tables of the entities, and no others', () => {
    const expected = [...entities.map(({ tableName }) => tableName), 'migrations'];
    expect([...tables.keys()].sort()).toEqual(expected.sort());
  });

  it('the migrations make no account', async () => {
    expect(await service.count('users', '1 = 1')).toBe(0);
    expect(await service.count('service_clients', '1 = 1')).toBe(0);
  });

  it('each entity matches the columns of its table: names, lengths, NULL, primary key', () => {
    expect(entities.length).toBeGreaterThan(5);
    for (const { tableName, columns } of entities) {
      const inEntity = columns.map((column) => ({
        name: column.databaseName,
        nullable: column.isNullable,
        primary: column.isPrimary,
        ...(column.length === '' ? {} : { length: column.length }),
      }));
      const inTable = (tables.get(tableName) ?? []).map(({ name, nullable, primary, length }) => {
        const declared = inEntity.find((column) => column.name === name);
        return { name, nullable, primary, ...(declared && 'length' in declared ? { length } : {}) };
      });
      const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
      expect({ tableName, columns: inTable.sort(byName) }).toEqual({ tableName, columns: inEntity.sort(byName) });
    }
  });

  it('identifiers are compared byte by byte (T211)', async () => {
    const { database } = service;
    await database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [
      service.clock.now(),
    ]);
    for (const other of ['ACME', 'acmé', 'acme ', 'ａｃｍｅ']) {
      const rows = await database.rows('SELECT id FROM tenants WHERE id = ?', [other]);
      // PAD SPACE: in utf8mb4_bin, "acme " equals "acme". The service stores no id with a space at its end.
      expect({ other, rows }).toEqual({
        other,
        rows: other === 'acme ' && __DATABASE__ === 'mariadb' ? [{ id: 'acme' }] : [],
      });
    }
    if (__DATABASE__ === 'sqlite') return;
    for (const [table, columns] of tables) {
      if (table === 'migrations') continue;
      for (const { name, collation } of columns.filter((column) => identifiers.test(column.name) && column.collation)) {
        expect({ table, name, collation }).toEqual({ table, name, collation: 'utf8mb4_bin' });
      }
    }
  });

  it('times are stored in milliseconds, without a change of the time zone', async () => {
    const time = new Date('2026-03-29T01:30:00.123Z');
    await service.database.affected("UPDATE tenants SET created_at = ? WHERE id = 'root'", [time]);
    const rows: { at: string }[] = await service.database.rows(
      __DATABASE__ === 'sqlite'
        ? "SELECT created_at AS at FROM tenants WHERE id = 'root'"
        : "SELECT CAST(created_at AS CHAR) AS at FROM tenants WHERE id = 'root'",
    );
    expect(rows).toEqual([{ at: '2026-03-29 01:30:00.123' }]);
    if (__DATABASE__ === 'mariadb') {
      const columns = await service.database.rows<{ type: string }>(
        "SELECT DISTINCT COLUMN_TYPE AS type FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND DATA_TYPE IN ('datetime', 'timestamp', 'date')",
      );
      expect(columns).toEqual([{ type: 'datetime(3)' }]);
    }
  });

  it('the root tenant comes with the first migration', async () => {
    expect(await service.database.rows("SELECT id FROM tenants WHERE id = 'root'")).toEqual([{ id: 'root' }]);
  });
});

describe('migrations', () => {
  let store: TestDatabase;
  let dataSource: DataSource;
  beforeEach(async () => {
    store = await freshDatabase();
    await migrate(store.url);
    dataSource = await new DataSource(migrationOptions(store.url)).initialize();
    if (__DATABASE__ === 'sqlite') giveEachCallerItsOwnRunner(dataSource);
  });
  afterEach(async () => {
    await dataSource.destroy();
    await store.drop();
  });

  it('down() removes everything, and up() creates the same schema again', async () => {
    const runner = dataSource.createQueryRunner();
    const before = await tablesOf(runner);
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    for (let n = dataSource.migrations.length; n > 0; n--) await executor.undoLastMigration();
    expect([...(await tablesOf(runner)).keys()]).toEqual(['migrations']);
    expect(await isCurrent(dataSource)).toBe(false);
    await executor.executePendingMigrations();
    expect(await tablesOf(runner)).toEqual(before);
    expect(await isCurrent(dataSource)).toBe(true);
    await runner.release();
  });

  it('users who had recovery codes or passkeys before `own_factors` existed are counted, also after a killed run', async () => {
    const at = "'2026-01-01 00:00:00.000'";
    for (const uid of ['codes', 'keys', 'none']) {
      await dataSource.query(
        `INSERT INTO users (uid, login_name, login_name_key, tenant_id, created_at)
         VALUES ('${uid}', '${uid}', '${uid}', 'root', ${at})`,
      );
    }
    await dataSource.query(
      `INSERT INTO recovery_codes (id, user_id, code_hash, key_id, created_at) VALUES ('c', 'codes', 'x', 'k', ${at})`,
    );
    await dataSource.query(
      `INSERT INTO passkeys (id, user_id, credential_hash, credential_id, public_key, transports, name, created_at)
       VALUES ('p', 'keys', 'x', 'x', 'x', '', 'phone', ${at})`,
    );
    const flags = () => dataSource.query('SELECT uid, own_factors FROM users ORDER BY uid');
    const forget = () => dataSource.query("DELETE FROM migrations WHERE name = 'OwnFactors1764900000000'");
    await dataSource.query('ALTER TABLE users DROP COLUMN own_factors');
    for (let run = 0; run < 2; run++) {
      await forget();
      expect(await migrate(store.url)).toEqual(['OwnFactors1764900000000']);
      expect(await flags()).toEqual([
        { uid: 'codes', own_factors: 1 },
        { uid: 'keys', own_factors: 1 },
        { uid: 'none', own_factors: 0 },
      ]);
      // The second run stands for one that was killed between the column and the rows.
      await dataSource.query('UPDATE users SET own_factors = 0');
    }
  });

  it('a later ADD COLUMN copies no table, so that no login waits for it (docs/operations/upgrade.md)', async () => {
    const tables: { name: string }[] = await dataSource.query(
      __DATABASE__ === 'mariadb'
        ? 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()'
        : "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    expect(tables.length).toBeGreaterThan(16);
    const instant = __DATABASE__ === 'mariadb' ? ', ALGORITHM=INSTANT' : '';
    for (const { name } of tables) {
      await dataSource.query(`ALTER TABLE ${name} ADD COLUMN later varchar(255) NULL${instant}`);
    }
  });

  describe('the key of the nickname', () => {
    const keys = () => dataSource.query('SELECT uid, nickname_key FROM users ORDER BY uid');
    const filled = [
      { uid: 'a', nickname_key: 'anna' },
      { uid: 'b', nickname_key: null },
      { uid: 'c', nickname_key: 'carl' },
    ];
    const schema = async () => {
      const runner = dataSource.createQueryRunner();
      const users = (await tablesOf(runner)).get('users');
      await runner.release();
      // The step back and forth moves the column behind those of later migrations.
      return users?.sort((a, b) => (a.name < b.name ? -1 : 1));
    };
    beforeEach(async () => {
      for (const [uid, nickname] of [
        ['a', 'Anna'],
        ['b', null],
        ['c', 'CARL'],
      ]) {
        await dataSource.query(
          `INSERT INTO users (uid, login_name, login_name_key, nickname, tenant_id, created_at)
           VALUES (?, ?, ?, ?, 'root', '2026-01-01 00:00:00.000')`,
          [uid, uid, uid, nickname],
        );
      }
    });

    it('is filled for existing users, also after a run that was killed at any statement', async () => {
      const after = await schema();
      const runner = dataSource.createQueryRunner();
      const migration = new NicknameKey1766900000000();
      let statements = Infinity;
      for (let kill = 1; kill <= statements; kill++) {
        await migration.down(runner);
        expect(await keys()).toEqual(filled);
        await dataSource.query(`DELETE FROM migrations WHERE name = '${migration.name}'`);
        const killed = await killedAt(migration, runner, kill);
        if (!killed) statements = kill;
        expect(await migrate(store.url)).toEqual([migration.name]);
        expect({ kill, keys: await keys(), users: await schema() }).toEqual({ kill, keys: filled, users: after });
      }
      // Look, drop two indices, replace the column, drop the former one, fill, make two indices.
      expect(statements).toBeGreaterThan(10);
      await runner.release();
    });

    it('is repaired where a replica of version 1.0.0 has written the nickname alone', async () => {
      await dataSource.query("UPDATE users SET nickname_key = 'former' WHERE uid IN ('a', 'b')");
      const keysOfNicknames = new NicknameKeys(Database.over(dataSource));
      await keysOfNicknames.repair();
      expect(await keys()).toEqual(filled);
      await keysOfNicknames.repair();
      expect(await keys()).toEqual(filled);
    });
  });

  it('the owner of a mail is added to mails that an earlier version queued, also when the first run was killed', async () => {
    await dataSource.query(
      `INSERT INTO mail_outbox (id, kind, next_attempt_at, expires, created_at)
       VALUES ('m', 'otp', '2026-01-01', '2026-01-01', '2026-01-01')`,
    );
    const name = 'ix_mail_outbox_user_id_status';
    const drop = `DROP INDEX ${name}${__DATABASE__ === 'mariadb' ? ' ON mail_outbox' : ''}`;
    // Before the migration, and after its first statement.
    for (const undo of [[drop, 'ALTER TABLE mail_outbox DROP COLUMN user_id'], [drop]]) {
      for (const statement of undo) await dataSource.query(statement);
      await dataSource.query("DELETE FROM migrations WHERE name = 'MailOwners1764950000000'");
      expect(await migrate(store.url)).toEqual(['MailOwners1764950000000']);
    }
    expect(await dataSource.query('SELECT id, user_id FROM mail_outbox')).toEqual([{ id: 'm', user_id: null }]);
  });

  it('the column for the actor is added to existing audit rows, also when the first run was killed half-way', async () => {
    const runner = dataSource.createQueryRunner();
    const before = (await tablesOf(runner)).get('audit_logs');
    const insert = (columns: string, values: string) =>
      dataSource.query(
        `INSERT INTO audit_logs (event, detail, created_at${columns}) VALUES ('X', '{}', '2026-01-01 00:00:00.000'${values})`,
      );
    const actors = async () => {
      const rows: { actor_id: unknown }[] = await dataSource.query('SELECT actor_id FROM audit_logs ORDER BY id');
      return rows.map((row) => row.actor_id);
    };
    // The table as the version before this migration created it. SQLite drops no column that an index of a later one has.
    if (__DATABASE__ === 'sqlite') await dataSource.query('DROP INDEX ix_audit_logs_actor_id_created_at');
    await dataSource.query('ALTER TABLE audit_logs DROP COLUMN actor_id');
    await insert('', '');
    const forget = () => dataSource.query("DELETE FROM migrations WHERE name = 'AuditActor1763800000000'");
    await forget();
    expect(await migrate(store.url)).toEqual(['AuditActor1763800000000']);
    // `migrate` was killed after the ALTER TABLE and before the INSERT into `migrations`.
    await insert(', actor_id', ", 'ops'");
    await forget();
    expect(await migrate(store.url)).toEqual(['AuditActor1763800000000']);
    expect(await actors()).toEqual([null, 'ops']);
    expect((await tablesOf(runner)).get('audit_logs')).toEqual(before);
    // A replica of the former version still writes rows.
    await insert('', '');
    expect(await actors()).toEqual([null, 'ops', null]);
    await runner.release();
  });

  it('an upgrade notes for seven days that version 1.0.0 may still run, a new installation does not', async () => {
    const name = 'RefreshTokenAudience1767600000000';
    const untilOf = async () => {
      const rows: { until: string | Date }[] = await dataSource.query(
        "SELECT until FROM cooldowns WHERE kind = 'tokens'",
      );
      return rows.map(({ until }) => timeOf(until).getTime());
    };
    const again = async (forget: boolean) => {
      if (forget) await dataSource.query("DELETE FROM cooldowns WHERE kind = 'tokens'");
      await dataSource.query(`DELETE FROM migrations WHERE name = '${name}'`);
      expect(await migrate(store.url)).toEqual([name]);
      return untilOf();
    };
    const longAgo = Date.parse('2000-01-01T00:00:00.000Z');
    expect(await untilOf()).toEqual([longAgo]);
    await dataSource.query(
      `INSERT INTO users (uid, login_name, login_name_key, tenant_id, created_at)
       VALUES ('someone', 'someone', 'someone', 'root', '2026-01-01 00:00:00.000')`,
    );
    // A run that was killed after its INSERT changes nothing.
    expect(await again(false)).toEqual([longAgo]);
    const [until] = await again(true);
    // The database reads a clock of its own.
    const days = (until! - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    expect(await again(false)).toEqual([until]);
    await dataSource.query("DELETE FROM users WHERE uid = 'someone'");
  });

  it('the columns of a session are added to existing tokens, also when the first run was killed half-way', async () => {
    const runner = dataSource.createQueryRunner();
    const before = (await tablesOf(runner)).get('login_tokens');
    const name = 'Sessions1764100000000';
    const insert = () =>
      dataSource.query(
        `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
         VALUES ('${randomUUID()}', 'refresh', 'x', 0, '2026-01-01 00:00:00.000', 'x', 0, '2026-01-01 00:00:00.000')`,
      );
    // The table as the version before this migration created it, and as a run left it that was killed half-way.
    for (const dropped of [
      ['last_used_at', 'authenticated_at', 'amr', 'user_agent', 'ip'],
      ['last_used_at', 'authenticated_at'],
      [],
    ]) {
      for (const column of dropped) await dataSource.query(`ALTER TABLE login_tokens DROP COLUMN ${column}`);
      // A replica of the former version writes rows before the migration and after it.
      await insert();
      await dataSource.query(`DELETE FROM migrations WHERE name = '${name}'`);
      expect(await migrate(store.url)).toEqual([name]);
      await insert();
      expect((await tablesOf(runner)).get('login_tokens')).toEqual(before);
    }
    const rows = await dataSource.query(
      'SELECT DISTINCT ip, user_agent, amr, authenticated_at, last_used_at FROM login_tokens',
    );
    expect(rows).toEqual([{ ip: null, user_agent: null, amr: null, authenticated_at: null, last_used_at: null }]);
    await runner.release();
  });

  describe.each([
    ['users', 'language', new UserLanguage1768000000000()],
    ['users', 'role', new UserRoles1769700000000()],
    ['pending_logins', 'sid', new PendingReauthentications1767620000000()],
  ])('%s.%s', (table, column, migration) => {
    /** Writes a row as a replica of version 1.0.0 does, which knows no such column. */
    const insert = (id: string) =>
      dataSource.query(
        table === 'users'
          ? `INSERT INTO users (uid, login_name, login_name_key, tenant_id, created_at)
             VALUES ('${id}', '${id}', '${id}', 'root', '2026-01-01 00:00:00.000')`
          : `INSERT INTO pending_logins (id, user_id, channel, token_hash, ip, created_at, expires)
             VALUES ('${id}', '${id}', 'email', 'x', '::1', '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000')`,
      );
    const values = () => dataSource.query(`SELECT ${column} FROM ${table}`);
    const forget = () => dataSource.query(`DELETE FROM migrations WHERE name = '${migration.name}'`);

    it('is added beside rows of version 1.0.0, which writes on, also after a run that was killed at any statement', async () => {
      const runner = dataSource.createQueryRunner();
      const schema = async () => (await tablesOf(runner)).get(table)?.sort((a, b) => (a.name < b.name ? -1 : 1));
      const after = await schema();
      expect(after).toContainEqual(expect.objectContaining({ name: column, nullable: true }));
      await migration.down(runner);
      await insert('before');
      let statements = Infinity;
      for (let kill = 1; kill <= statements; kill++) {
        await migration.down(runner);
        await forget();
        if (!(await killedAt(migration, runner, kill))) statements = kill;
        expect(await migrate(store.url)).toEqual([migration.name]);
        expect({ kill, rows: await values(), columns: await schema() }).toEqual({
          ...{ kill, columns: after },
          rows: [{ [column]: null }],
        });
      }
      expect(statements).toBeGreaterThan(1);
      await insert('after');
      expect(await values()).toEqual([{ [column]: null }, { [column]: null }]);
      await runner.release();
    });

    it('is added by one statement that copies no table, so that no login waits for it', async () => {
      const runner = dataSource.createQueryRunner();
      await migration.down(runner);
      await insert('before');
      const changes: string[] = [];
      const real = runner.query.bind(runner);
      jest.spyOn(runner, 'query').mockImplementation((...[statement, ...more]: Parameters<QueryRunner['query']>) => {
        const isChange = /^\s*(alter|create|drop|insert|rename|update)\b/i.test(statement);
        if (isChange) changes.push(statement);
        // MariaDB refuses what it cannot do at once.
        const instant = isChange && __DATABASE__ === 'mariadb' ? `${statement}, ALGORITHM=INSTANT` : statement;
        return real(instant, ...more);
      });
      await migration.up(runner);
      expect(changes).toEqual([expect.stringMatching(/^ALTER TABLE \S+ ADD /)]);
      expect(await values()).toEqual([{ [column]: null }]);
      await runner.release();
    });
  });

  it('a second run changes nothing, also when a newer version has already added its migration', async () => {
    expect(await migrate(store.url)).toEqual([]);
    await dataSource.query(
      "INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture9999999999999')",
    );
    expect(await isCurrent(dataSource)).toBe(true);
    expect(await migrate(store.url)).toEqual([]);
  });

  it('five parallel runs on an empty database migrate it once', async () => {
    const empty = await freshDatabase();
    const ran = await Promise.all([1, 2, 3, 4, 5].map(() => migrate(empty.url)));
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1);
    await empty.drop();
  });
});

/**
 * Runs `up` until it sends its nth statement. The statement arrives, and its sender learns nothing more. On SQLite all
 * migrations are one transaction, which a kill rolls back.
 */
async function killedAt(migration: RepeatableMigration, runner: QueryRunner, nth: number): Promise<boolean> {
  let sent = 0;
  if (__DATABASE__ === 'sqlite') await runner.startTransaction();
  const real = runner.query.bind(runner);
  const query = jest
    .spyOn(runner, 'query')
    .mockImplementation(async (...statement: Parameters<QueryRunner['query']>) => {
      const answer: unknown = await real(...statement);
      if (++sent === nth) throw new Error('killed');
      return answer;
    });
  try {
    await migration.up(runner);
    return false;
  } catch (error) {
    if ((error as Error).message !== 'killed') throw error;
    return true;
  } finally {
    query.mockRestore();
    if (__DATABASE__ === 'sqlite') await runner.rollbackTransaction();
  }
}
