import { createHash, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Answer } from '../support/app';
import { Replicas } from '../support/replicas';
import { codeOf } from '../support/reset';
import { MariaDb } from '../support/servers/mariadb';

interface Session {
  readonly access: string;
  readonly refresh: string;
}

const right = 'Correct-Horse-7';
const flooded = 1_000_000;
/** Far below the rows of the flood. The workers of both replicas read some rows now and then. */
const fewRows = 20_000;

const sidOf = ({ access }: Session) => String(decodeJwt(access).sid);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A version before bounded no rows of a session, so a table may hold such a flood (ADR 0005). */
describe('an account with 1,000,000 tokens, on two replicas', () => {
  let mariadb: MariaDb;
  let replicas: Replicas;
  let admin: Session;
  let uid: string;
  let session: Session;

  beforeAll(async () => {
    mariadb = await MariaDb.start(['--innodb-buffer-pool-size=768M', '--innodb-log-file-size=512M']);
    replicas = await Replicas.start(
      { ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false' },
      2,
      await mariadb.freshDatabase('flood'),
    );
    const create = ['user', 'create', '--password', right, '--login-name'];
    await replicas.cli(...create, 'root', '--admin');
    uid = (await replicas.cli(...create, 'flooded', '--email', 'flooded@example.com')).uid as string;
    admin = await logIn('root');
    session = await logIn('flooded');
    // Ascending keys, all of one millisecond: inserted in some seconds.
    await replicas.rows(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
       SELECT CONCAT('00000000-0000-4000-8000-', LPAD(seq, 12, '0')), 'access', t.user_identity, 0, t.expires, t.sid,
         t.credential_version, t.created_at
       FROM seq_1_to_${flooded}, login_tokens t WHERE t.jti = ?`,
      [sidOf(session)],
    );
    await replicas.rows('ANALYZE TABLE login_tokens');
  }, 600_000);
  afterAll(async () => {
    await replicas?.stop();
    await mariadb?.stop();
  });

  async function logIn(name: string, typed = right): Promise<Session> {
    const { status, body } = await replicas.login(name, typed);
    if (status !== 200) throw new Error(`the login of ${name} answered ${body.error_code}`);
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  }

  const rowsRead = async () =>
    (await replicas.rows("SHOW GLOBAL STATUS LIKE 'Handler_read%'")).reduce((sum, { Value }) => sum + Number(Value), 0);

  /** The rows that the database reads for the work are bounded, however many the account has. */
  async function cheap<T>(work: () => Promise<T>): Promise<T> {
    const before = await rowsRead();
    const result = await work();
    expect((await rowsRead()) - before).toBeLessThan(fewRows);
    return result;
  }
  const answered = async (work: () => Promise<Answer>) => {
    const answer = await cheap(work);
    expect(codeOf(answer)).toBe('success');
    return answer.body.data;
  };
  const path = (rest = '') => `/admin/users/${uid}${rest}`;
  const me = async ({ access }: Session, n: number) => codeOf(await replicas.get('/user/me', n, bearer(access)));
  const ended = async (lost: Session) => {
    for (const n of [0, 1]) {
      expect(await me(lost, n)).toBe('AUTH_401004');
      expect(codeOf(await replicas.post('/refresh', {}, n, bearer(lost.refresh)))).toBe('AUTH_401006');
    }
  };
  /** The session lives again, with all its rows, so that the next test ends it in another way. */
  const revive = () => replicas.rows('UPDATE login_tokens SET is_revoked = 0 WHERE jti = ?', [sidOf(session)]);

  it('the account and its sessions are shown', async () => {
    for (const n of [0, 1]) {
      expect(await answered(() => replicas.get(path(), n, bearer(admin.access)))).toMatchObject({ sessions: 1 });
      const { items } = await answered(() => replicas.get(path('/sessions'), n, bearer(admin.access)));
      expect(items).toHaveLength(1);
      await answered(() => replicas.get('/user/sessions', n, bearer(session.access)));
    }
    expect(await cheap(() => replicas.cli('user', 'sessions', 'flooded'))).toHaveLength(1);
  });

  it('a log-out, the end of one session and the end of all others end the flooded session on both', async () => {
    await answered(() => replicas.post('/logout', {}, 0, bearer(session.access)));
    await ended(session);
    await revive();
    const own = await logIn('flooded');
    await answered(() => replicas.remove(`/user/sessions/${sidOf(session)}`, 1, bearer(own.access)));
    await ended(session);
    await revive();
    expect(await answered(() => replicas.remove('/user/sessions', 0, bearer(own.access)))).toMatchObject({ ended: 1 });
    await ended(session);
    expect(await me(own, 1)).toBe('success');
    await revive();
  });

  it('a revocation by the command line and by an administrator ends it', async () => {
    const own = await logIn('flooded');
    await cheap(() => replicas.cli('user', 'revoke-tokens', 'flooded'));
    await ended(own);
    const next = await logIn('flooded');
    await answered(() => replicas.post(path('/revoke-sessions'), {}, 1, bearer(admin.access)));
    await ended(next);
  });

  it('a changed password ends it, by the user, by a link and by an operator', async () => {
    const own = await logIn('flooded');
    const lost = await logIn('flooded');
    const chosen = (password: string) => ({ password, confirm_password: password });
    await answered(() =>
      replicas.post(
        '/user/change-password',
        { current_password: right, ...chosen('Another-Horse-8') },
        0,
        bearer(own.access),
      ),
    );
    await ended(lost);
    const token = randomUUID();
    await replicas.rows(
      `INSERT INTO user_change_password_request
         (uid, token_hash, user_id, type, status, credential_version, expired, created_at)
       SELECT ?, ?, uid, 2, 0, credential_version, UTC_TIMESTAMP(3) + INTERVAL 30 MINUTE, UTC_TIMESTAMP(3)
       FROM users WHERE uid = ?`,
      [randomUUID(), createHash('sha256').update(token).digest('hex'), uid],
    );
    const before = await logIn('flooded', 'Another-Horse-8');
    await answered(() => replicas.post('/user/change-pwd-by-req', { req_uid: token, ...chosen('Another-Horse-9') }, 1));
    await ended(before);
    const last = await logIn('flooded', 'Another-Horse-9');
    await cheap(() => replicas.cli('user', 'set-password', 'flooded', '--password', 'Another-Horse-10'));
    await ended(last);
  });

  it('a disabling and an erasure end it', async () => {
    const own = await logIn('flooded', 'Another-Horse-10');
    await answered(() => replicas.change(path(), { status: 0 }, 0, bearer(admin.access)));
    await ended(own);
    await answered(() => replicas.change(path(), { status: 1 }, 0, bearer(admin.access)));
    const last = await logIn('flooded', 'Another-Horse-10');
    await answered(() => replicas.remove(path(), 1, bearer(admin.access)));
    await ended(last);
  });

  it('the first rows of a user and the newest row of a session are found by their indexes', async () => {
    const plans = [
      ...(await replicas.rows(
        `EXPLAIN SELECT created_at FROM login_tokens WHERE user_identity = ? AND token_type = 'refresh' AND jti = sid`,
        [uid],
      )),
      ...(await replicas.rows(
        'EXPLAIN SELECT created_at FROM login_tokens WHERE sid = ? ORDER BY created_at DESC LIMIT 1',
        [sidOf(session)],
      )),
    ];
    expect(plans).toEqual([
      expect.objectContaining({ key: 'ix_login_tokens_user_identity_token_type_sid' }),
      expect.objectContaining({ key: 'ix_login_tokens_sid_created_at' }),
    ]);
    expect(plans.map(({ Extra }) => String(Extra)).join()).not.toMatch(/filesort/);
    expect(Number(plans[0]?.rows)).toBeLessThan(1000);
  });

  it('the rows of the flood were there all the time', async () => {
    const [row] = await replicas.rows('SELECT COUNT(*) AS n FROM login_tokens WHERE user_identity = ?', [uid]);
    expect(Number(row?.n)).toBeGreaterThanOrEqual(flooded);
  });
});
