// `oidc-provider` as its documentation sets it up, with the least code that keeps its records in a copy of the tables of the service. An adapter
// method is one statement, the payload is plain JSON, and only the package decides what is alive. It shows what the package can do.
import { createServer } from 'node:http';
import { createPrivateKey } from 'node:crypto';
import { createPool } from 'mysql2/promise';
import { Provider } from 'oidc-provider';

const { PORT, DATABASE_URL, OIDC_PRIVATE_KEY, CLIENT, COOKIE_SECRET } = process.env;
const client = JSON.parse(CLIENT);
const pool = createPool({ uri: DATABASE_URL, connectionLimit: 10, timezone: 'Z' });
const rows = async (sql, values) => (await pool.execute(sql, values))[0];
const live = 'expires > UTC_TIMESTAMP(3)';

class Records {
  constructor(kind) {
    this.kind = kind;
  }

  async upsert(id, payload, seconds) {
    const { grantId = null, uid = null, accountId = null, clientId = null } = payload;
    await rows(
      `INSERT INTO oidc_records (id_hash, kind, payload, grant_hash, uid_hash, user_id, application_id, expires, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND, UTC_TIMESTAMP(3))
       ON DUPLICATE KEY UPDATE payload = VALUES(payload), expires = VALUES(expires)`,
      [id, this.kind, JSON.stringify(payload), grantId, uid, accountId, clientId, seconds],
    );
  }

  async #found(where, value) {
    const [row] = await rows(`SELECT payload, consumed_at FROM oidc_records WHERE ${where} AND kind = ? AND ${live}`, [
      value,
      this.kind,
    ]);
    return row && { ...JSON.parse(row.payload), ...(row.consumed_at && { consumed: true }) };
  }

  find(id) {
    return this.#found('id_hash = ?', id);
  }

  findByUid(uid) {
    return this.#found('uid_hash = ?', uid);
  }

  async consume(id) {
    await rows('UPDATE oidc_records SET consumed_at = UTC_TIMESTAMP(3) WHERE id_hash = ? AND kind = ?', [
      id,
      this.kind,
    ]);
  }

  async destroy(id) {
    await rows('DELETE FROM oidc_records WHERE id_hash = ? AND kind = ?', [id, this.kind]);
  }

  async revokeByGrantId(grantId) {
    await rows('DELETE FROM oidc_records WHERE grant_hash = ?', [grantId]);
  }
}

const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  adapter: Records,
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      redirect_uris: ['https://grafana.example.com/login/generic_oauth'],
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  jwks: { keys: [createPrivateKey(OIDC_PRIVATE_KEY).export({ format: 'jwk' })] },
  cookies: { keys: [COOKIE_SECRET] },
  claims: { profile: ['name', 'preferred_username'], email: ['email', 'email_verified'] },
  features: { devInteractions: { enabled: false } },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  expiresWithSession: () => false,
  findAccount: async (_ctx, uid) => {
    const [user] = await rows('SELECT uid, login_name, nickname, email FROM users WHERE uid = ?', [uid]);
    return (
      user && {
        accountId: uid,
        claims: () => ({
          sub: uid,
          name: user.nickname ?? user.login_name,
          preferred_username: user.login_name,
          email: user.email,
          email_verified: true,
        }),
      }
    );
  },
});

/** A sign-in at the application leaves a grant, an access token and a refresh token. */
async function signedIn(accountId) {
  const { Grant, AccessToken, RefreshToken, Client } = provider;
  const grant = new Grant({ accountId, clientId: client.id });
  const scope = 'openid profile email';
  grant.addOIDCScope(scope);
  const known = await Client.find(client.id);
  const of = { accountId, client: known, grantId: await grant.save(), gty: 'authorization_code', scope };
  const refresh = await new RefreshToken({ ...of, authTime: Math.floor(Date.now() / 1000) }).save();
  return { access: await new AccessToken(of).save(), refresh };
}

const handle = provider.callback();
createServer((request, response) => {
  if (request.url === '/health/ready') response.end('{}');
  else if (request.url === '/signed-in') {
    const users = rows('SELECT uid FROM users ORDER BY uid LIMIT 64', []);
    void users
      .then((found) => Promise.all(found.map(({ uid }) => signedIn(uid))))
      .then((sessions) => response.end(JSON.stringify(sessions)));
  } else handle(request, response);
}).listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
