import type { Connection } from 'mysql2/promise';

/** How many rows each table has. A log has two thirds of `logs`, the other one third. */
export interface Size {
  readonly users: number;
  readonly logs: number;
}

const bcrypt = '$2b$12$abcdefghijklmnopqrstuuE8pXGzOPxhxUGcEXy0lmzyLrkZxHHPi';
const agent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const first = 1000;

/** An id that looks random: random keys make a table with pages that are two thirds full, as those of the service. */
const id = (seed: string) =>
  `INSERT(INSERT(INSERT(INSERT(MD5(${seed}), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')`;
const time = 'UTC_TIMESTAMP(3) - INTERVAL n MINUTE';
const userOf = (n: string) => id(`CONCAT('user', ${n})`);

/**
 * Fills the tables of version 1.0.0 by `INSERT … SELECT` from a table of numbers, which doubles until it has enough of them.
 * @returns the rows of each table
 */
export async function fillTables(sql: Connection, { users, logs }: Size): Promise<Record<string, number>> {
  const [logins, audits] = [Math.ceil((logs * 2) / 3), Math.floor(logs / 3)];
  const rows = {
    users,
    login_tokens: users,
    login_logs: logins,
    audit_logs: audits,
    event_outbox: Math.ceil(users / 10),
    mail_outbox: users,
  };
  await sql.query('CREATE TEMPORARY TABLE numbers (n INT PRIMARY KEY)');
  await sql.query(`INSERT INTO numbers VALUES ${Array.from({ length: first }, (_, n) => `(${n})`).join(', ')}`);
  for (let count = first; count < Math.max(...Object.values(rows)); count *= 2) {
    // A statement may name a temporary table once.
    await sql.query(`CREATE OR REPLACE TEMPORARY TABLE more AS SELECT n + ${count} AS n FROM numbers`);
    await sql.query('INSERT INTO numbers SELECT n FROM more');
  }
  const fill = (table: keyof typeof rows, columns: Record<string, string>) =>
    sql.query(
      `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
       SELECT ${Object.values(columns).join(', ')} FROM numbers WHERE n < ${rows[table]}`,
    );
  const name = `CONCAT('user.name-', LPAD(n, 7, '0'))`;
  await fill('users', {
    uid: userOf('n'),
    ...{ login_name: name, login_name_key: name },
    email: `CONCAT(${name}, '@example.com')`,
    email_key: `CONCAT(${name}, '@example.com')`,
    nickname: `CONCAT('User Name ', n)`,
    password: `'${bcrypt}'`,
    salt: `LEFT('${bcrypt}', 29)`,
    last_login_success_time: time,
    tenant_id: `CONCAT('tenant-', n % 20)`,
    created_at: time,
  });
  await fill('login_tokens', {
    jti: id(`CONCAT('token', n)`),
    token_type: `'refresh'`,
    user_identity: userOf('n'),
    expires: 'UTC_TIMESTAMP(3) + INTERVAL 7 DAY',
    sid: id(`CONCAT('token', n)`),
    created_at: time,
  });
  const log = { ip: `'10.0.0.1'`, user_agent: `'${agent}'`, request_id: id(`CONCAT('request', n)`), created_at: time };
  const user = userOf(`n % ${users}`);
  await fill('login_logs', { user_id: user, login_name: name, provider: `'password'`, outcome: `'success'`, ...log });
  await fill('audit_logs', {
    user_id: user,
    event: `'PASSWORD_CHANGED'`,
    detail: `RPAD('{"detail":"', 60, 'x')`,
    ...log,
  });
  await fill('event_outbox', {
    ...{ event_id: id(`CONCAT('event', n)`), stream: id(`CONCAT('event', n)`) },
    ...{ type: `'user.login'`, status: '1', created_at: time },
  });
  await fill('mail_outbox', {
    id: id(`CONCAT('mail', n)`),
    ...{ kind: `'otp'`, status: '1', attempts: '1', next_attempt_at: time, expires: time, created_at: time },
  });
  await sql.query('DROP TEMPORARY TABLE numbers');
  await sql.query('DROP TEMPORARY TABLE IF EXISTS more');
  return rows;
}
