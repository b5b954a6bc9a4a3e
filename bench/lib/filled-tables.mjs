// Rows of realistic width for bench/growth.mjs, made by the SEQUENCE engine of MariaDB. Keys are random, as those of the
// service are: a table with random keys fills its pages to two thirds, and one with growing keys fills them almost.

/** The longest values, in characters. An IPv4 address, the user agent of a current browser, a name and an address. */
export const widths = { loginName: 16, email: 28, ip: 13, userAgent: 111, requestId: 36, auditDetail: 60 };

const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const bcrypt = '$2b$12$abcdefghijklmnopqrstuuE8pXGzOPxhxUGcEXy0lmzyLrkZxHHPi';

/** SQL for an id of 36 characters that looks random and is the same in each run. */
const uuid = (name, seq = 'seq') => {
  const digits = `MD5(CONCAT('${name}', ${seq}))`;
  return `INSERT(INSERT(INSERT(INSERT(${digits}, 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')`;
};
const hash = (name) => `SHA2(CONCAT('${name}', seq), 256)`;
/** One of 100,000 users, in no order. */
const user = uuid('user', '(seq * 7919) % 100000');
const name = `CONCAT('user.name-', LPAD((seq * 7919) % 100000, 6, '0'))`;
const ip = `CONCAT('10.', LPAD(seq % 200, 3, '1'), '.', 100 + (seq DIV 7) % 100, '.', 10 + seq % 90)`;
const agent = `'${userAgent}'`;
/** Rows come in the order of time, 20 a second. */
const time = `UTC_TIMESTAMP(3) - INTERVAL 60 DAY + INTERVAL seq * 50000 MICROSECOND`;

/** @returns {{ name: string, table: string, sql: (rows: number) => string }} */
function fill(table, columns, what = table) {
  const sql = (rows) =>
    `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM seq_1_to_${rows}`;
  return { name: what, table, sql };
}

const token = (kind, days) => ({
  jti: uuid(kind),
  token_type: `'${kind}'`,
  user_identity: user,
  expires: `${time} + INTERVAL ${days} DAY`,
  sid: kind === 'refresh' ? uuid(kind) : uuid('refresh', '(seq * 31) % 100000'),
  created_at: time,
});

export const fills = [
  fill('users', {
    uid: uuid('user'),
    login_name: `CONCAT('user.name-', LPAD(seq, 6, '0'))`,
    login_name_key: `CONCAT('user.name-', LPAD(seq, 6, '0'))`,
    email: `CONCAT('user.name-', LPAD(seq, 6, '0'), '@example.com')`,
    email_key: `CONCAT('user.name-', LPAD(seq, 6, '0'), '@example.com')`,
    nickname: `CONCAT('User Name ', seq)`,
    nickname_key: `CONCAT('user name ', seq)`,
    password: `'${bcrypt}'`,
    salt: `LEFT('${bcrypt}', 29)`,
    last_login_success_time: time,
    tenant_id: `CONCAT('tenant-', seq % 20)`,
    org_unit_id: `CONCAT('unit-', seq % 500)`,
    created_at: time,
  }),
  fill('user_change_pwd_logs', { user_id: user, type: '2', password: `'${bcrypt}'`, created_at: time }),
  fill('known_browsers', { user_id: user, browser: hash('browser'), seen_at: time }),
  fill('login_logs', {
    user_id: user,
    login_name: name,
    provider: `'password'`,
    ip,
    user_agent: agent,
    outcome: `'success'`,
    mfa: `'email'`,
    request_id: uuid('request'),
    created_at: time,
  }),
  fill('audit_logs', {
    event: `'PASSWORD_CHANGED'`,
    user_id: user,
    ip,
    user_agent: agent,
    request_id: uuid('request'),
    detail: `RPAD('{"detail":"', 60, 'x')`,
    created_at: time,
  }),
  fill(
    'login_tokens',
    { ...token('refresh', 7), ip, user_agent: agent, amr: `'pwd otp'`, authenticated_at: time },
    'login_tokens (sessions)',
  ),
  fill('login_tokens', token('access', 0), 'login_tokens (access)'),
  fill('captcha_receipts', { token_hash: hash('captcha'), expires: time }),
  // A mail that was sent: its payload is deleted.
  fill('mail_outbox', {
    id: uuid('mail'),
    kind: `'otp'`,
    status: '1',
    attempts: '1',
    next_attempt_at: time,
    expires: time,
    sent_at: time,
    created_at: time,
    user_id: user,
  }),
];
