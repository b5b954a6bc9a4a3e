import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { SessionRows } from '../../src/sessions/persistence/session-rows';
import { TestService } from '../support/app';
import { codeOf } from '../support/reset';
import { eventually } from '../support/servers/eventually';

interface Session {
  readonly access: string;
  readonly refresh: string;
}

const sidOf = ({ access }: Session) => String(decodeJwt(access).sid);
const jtiOf = (token: string) => String(decodeJwt(token).jti);

/** ADR 0005: a client that never stops refreshing must not make a session that is too large to end. */
describe.each(['false', 'true'])('the rows of a session, REFRESH_TOKEN_ROTATION=%s', (rotation) => {
  let service: TestService;
  let second: TestService;
  beforeAll(async () => {
    const settings = { REFRESH_TOKEN_ROTATION: rotation };
    service = await TestService.start(settings);
    second = await TestService.start(settings, { store: service.store, clock: service.clock });
  });
  afterAll(async () => {
    await second.stop({ keepStore: true });
    await service.stop();
  });

  /** Inserts access tokens, all of one millisecond, as a flood of refreshes does. */
  async function flood(session: Session, count: number): Promise<void> {
    const jtis = Array.from({ length: count }, () => randomUUID());
    await service.database.affected(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
       SELECT n.jti, 'access', t.user_identity, 0, t.expires, t.sid, t.credential_version, t.created_at
       FROM login_tokens t JOIN (${jtis.map(() => 'SELECT ? AS jti').join(' UNION ALL ')}) n WHERE t.jti = ?`,
      [...jtis, sidOf(session)],
    );
  }
  const given = async (name: string, rows: number): Promise<Session> => {
    await service.givenUser(name);
    const session = await service.session(name);
    // SQLite has at most 500 branches in one statement.
    for (let left = rows; left > 0; left -= 400) await flood(session, Math.min(left, 400));
    return session;
  };
  const refresh = async ({ refresh: bearer }: Session, by = service) => by.post('/refresh', undefined, { bearer });
  const me = async (access: string) => codeOf(await service.get('/user/me', { bearer: access }));
  const rowsOf = (session: Session) => service.count('login_tokens', 'sid = ?', [sidOf(session)]);
  const settled = (session: Session) =>
    eventually(async () => (await rowsOf(session)) <= 905, { what: 'the rows of the session are few again' });

  it('a refresh of a session with 3,000 rows leaves fewer than 1,000: the newest, the first one and the current token', async () => {
    const session = await given('many', 3000);
    service.clock.advanceSeconds(1);
    const { body } = await refresh(session);
    await settled(session);
    expect(await rowsOf(session)).toBeGreaterThanOrEqual(900);
    const { access_token: access, refresh_token } = body.data as Record<string, string>;
    expect(await me(access!)).toBe('success');
    expect(await me(session.access)).toMatch(/success|AUTH_401001/);
    expect(codeOf(await refresh({ ...session, refresh: refresh_token! }))).toBe('success');
    expect(codeOf(await service.post('/logout', undefined, { bearer: access }))).toBe('success');
    expect(await me(access!)).toBe('AUTH_401004');
  });

  it('a session with 900 rows keeps all of them', async () => {
    const session = await given('few', 900);
    const before = await rowsOf(session);
    expect(codeOf(await refresh(session))).toBe('success');
    await service.app.get(SessionRows).trim(sidOf(session));
    expect(before).toBe(902);
    expect(await rowsOf(session)).toBeGreaterThanOrEqual(900);
    expect(await rowsOf(session)).toBeLessThanOrEqual(905);
  });

  it('two replicas that trim one session while it refreshes remove no token of these refreshes', async () => {
    const session = await given('both', 2000);
    service.clock.advanceSeconds(1);
    const trims = [service, second].flatMap((one) =>
      Array.from({ length: 3 }, () => one.app.get(SessionRows).trim(sidOf(session))),
    );
    const answers = [await refresh(session), await refresh(session, second)];
    await Promise.all(trims);
    await settled(session);
    expect(await rowsOf(session)).toBeGreaterThanOrEqual(900);
    for (const { body } of answers) expect(await me(body.data.access_token as string)).toBe('success');
  });

  it('the end of a session while both replicas trim it leaves no usable token', async () => {
    for (let round = 0; round < 3; round++) {
      const session = await given(`ended-${round}`, 1500);
      service.clock.advanceSeconds(1);
      const trims = [service, second].map((one) => one.app.get(SessionRows).trim(sidOf(session)));
      const refreshed = refresh(session, second);
      expect(codeOf(await service.post('/logout', undefined, { bearer: session.refresh }))).toBe('success');
      await Promise.all(trims);
      const { status, body } = await refreshed;
      if (status === 200) expect(await me(body.data.access_token as string)).toBe('AUTH_401004');
      expect(codeOf(await refresh(session))).toBe('AUTH_401006');
    }
  });

  if (__DATABASE__ === 'mariadb') {
    it('trimming never waits for a transaction that ends the session, so the two never meet in a deadlock', async () => {
      const session = await given('ending', 1500);
      const first = [sidOf(session)];
      await service.database.affected("UPDATE login_tokens SET created_at = '2020-01-01' WHERE jti = ?", first);
      await second.database.transaction(async (tx) => {
        await tx.affected('UPDATE login_tokens SET is_revoked = 1 WHERE jti = ?', first);
        expect(await service.app.get(SessionRows).trim(sidOf(session))).toBe(601);
      });
    });
  }

  if (rotation === 'true') {
    it('a replaced refresh token whose row was removed still ends its session when it is used again', async () => {
      const session = await given('stolen', 0);
      const first = (await refresh(session)).body.data as Record<string, string>;
      service.clock.advanceSeconds(1);
      const next = (await refresh({ ...session, refresh: first.refresh_token! })).body.data as Record<string, string>;
      await service.database.affected('DELETE FROM login_tokens WHERE jti = ?', [jtiOf(first.refresh_token!)]);
      service.clock.advanceSeconds(60);
      expect(codeOf(await refresh({ ...session, refresh: first.refresh_token! }))).toBe('AUTH_401006');
      expect(await me(next.access_token!)).toBe('AUTH_401004');
      expect(await service.count('audit_logs', "event = 'REFRESH_TOKEN_REUSED'", [])).toBe(1);
    });
  }
});
