// The least code that does the same work with the same durability: what the machine can do without a framework. It uses
// node:http, mysql2 with prepared statements, @node-rs/bcrypt in the thread pool of libuv, and HS256 by node:crypto. It
// is not a complete service: it has no captcha, no lock, no validation and no error envelope.
import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { verify } from '@node-rs/bcrypt';
import { createPool } from 'mysql2';

const pool = createPool({ uri: process.env.DATABASE_URL, connectionLimit: 10, timezone: 'Z' });
const key = createSecretKey(Buffer.from(process.env.JWT_SECRET, 'utf8'));
const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
const accessSeconds = 900;
const refreshSeconds = 7 * 86_400;

const mac = (text) => createHmac('sha256', key).update(text).digest();
const inSeconds = (seconds) => new Date(Date.now() + seconds * 1000);

function sign(claims, seconds) {
  const iat = Math.floor(Date.now() / 1000);
  const text = `${header}.${Buffer.from(JSON.stringify({ ...claims, iat, exp: iat + seconds })).toString('base64url')}`;
  return `${text}.${mac(text).toString('base64url')}`;
}

function verified(request) {
  const [head, body, signature] = (request.headers.authorization ?? '').slice(7).split('.');
  const given = Buffer.from(signature ?? '', 'base64url');
  const expected = mac(`${head}.${body}`);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims = JSON.parse(Buffer.from(body, 'base64url'));
  return claims.exp > Date.now() / 1000 ? claims : undefined;
}

// The promises of mysql2 make an error object for each statement, which costs a tenth of a session check.
const settle = (resolve, reject) => (error, result) => (error ? reject(error) : resolve(result));
const execute = (on, sql, values) => new Promise((resolve, reject) => on.execute(sql, values, settle(resolve, reject)));
const query = (on, sql) => new Promise((resolve, reject) => on.query(sql, settle(resolve, reject)));

async function inTransaction(work) {
  const connection = await new Promise((resolve, reject) => pool.getConnection(settle(resolve, reject)));
  try {
    await query(connection, 'BEGIN');
    const result = await work(connection);
    await query(connection, 'COMMIT');
    return result;
  } catch (error) {
    await query(connection, 'ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
}

const tokenColumns =
  '(jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at) VALUES (?, ?, ?, 0, ?, ?, ?, ?)';

async function login(request, body) {
  const { username, password } = JSON.parse(body);
  const [user] = await execute(
    pool,
    'SELECT uid, login_name, nickname, email, is_admin, tenant_id, org_unit_id, password, status, credential_version FROM users WHERE login_name_key = ?',
    [username],
  );
  if (!user || !(await verify(password, user.password)) || user.status !== 1) return [401, { error: 'refused' }];
  const now = new Date();
  await execute(
    pool,
    'UPDATE users SET login_failed_count = 0, last_login_success_time = ? WHERE uid = ? AND status = 1',
    [now, user.uid],
  );
  const sid = randomUUID();
  const jti = randomUUID();
  const version = user.credential_version;
  await inTransaction(async (tx) => {
    await execute(tx, `INSERT INTO login_tokens ${tokenColumns}, (?, ?, ?, 0, ?, ?, ?, ?)`, [
      ...[jti, 'access', user.uid, inSeconds(accessSeconds), sid, version, now],
      ...[sid, 'refresh', user.uid, inSeconds(refreshSeconds), sid, version, now],
    ]);
    await execute(
      tx,
      'INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, mfa, request_id, created_at) VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?)',
      [user.uid, user.login_name, 'password', request.socket.remoteAddress, '', 'success', randomUUID(), now],
    );
  });
  const claims = { sub: user.uid, sid, tenant_id: user.tenant_id };
  const { password: _hash, ...shown } = user;
  return [
    200,
    {
      access_token: sign({ ...claims, jti, token_use: 'access' }, accessSeconds),
      refresh_token: sign({ ...claims, jti: sid, token_use: 'refresh' }, refreshSeconds),
      user_info: shown,
    },
  ];
}

/** The simplest correct refresh: all statements in one transaction. */
async function refresh(request) {
  const claims = verified(request);
  if (claims?.token_use !== 'refresh') return [401, { error: 'refused' }];
  const jti = randomUUID();
  const live = await inTransaction(async (tx) => {
    const [row] = await execute(
      tx,
      'SELECT t.credential_version FROM login_tokens t JOIN users u ON u.uid = t.user_identity WHERE t.jti = ? AND t.is_revoked = 0 AND u.status = 1',
      [claims.jti],
    );
    if (!row) return false;
    const now = new Date();
    await execute(tx, `INSERT INTO login_tokens ${tokenColumns}`, [
      ...[jti, 'access', claims.sub, inSeconds(accessSeconds), claims.sid, row.credential_version, now],
    ]);
    await execute(tx, 'UPDATE login_tokens SET succeeded_at = ? WHERE jti = ?', [now, claims.jti]);
    return true;
  });
  if (!live) return [401, { error: 'refused' }];
  const { sub, sid, tenant_id } = claims;
  return [200, { access_token: sign({ sub, sid, tenant_id, jti, token_use: 'access' }, accessSeconds) }];
}

async function me(request) {
  const claims = verified(request);
  if (claims?.token_use !== 'access') return [401, { error: 'refused' }];
  const [user] = await execute(
    pool,
    'SELECT u.uid, u.login_name, u.nickname, u.email, u.is_admin, u.mfa_type, u.tenant_id, u.org_unit_id FROM login_tokens t JOIN users u ON u.uid = t.user_identity WHERE t.jti = ? AND t.is_revoked = 0 AND u.status = 1',
    [claims.jti],
  );
  return user ? [200, user] : [401, { error: 'refused' }];
}

const routes = {
  'POST /login': login,
  'POST /refresh': refresh,
  'GET /user/me': me,
  'GET /health/ready': async () => [200, {}],
};

const server = createServer((request, response) => {
  const answer = async (body) => {
    const route = routes[`${request.method} ${request.url}`] ?? (async () => [404, {}]);
    const [status, result] = await route(request, body).catch((error) => {
      console.error(error);
      return [500, { error: 'failed' }];
    });
    const text = JSON.stringify(result);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  };
  if (request.method === 'GET') {
    void answer();
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
});
server.keepAliveTimeout = 72_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
