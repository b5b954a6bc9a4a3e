import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database';
import { LoginTokens } from '../../src/sessions/persistence/login-token.repository';
import type { TokenPayload, TokenUse } from '../../src/sessions/token-payload';
import { TestService } from '../support/app';

/** Checks of one event loop iteration share a statement (ADR 0014). Each must get the result it would get alone. */
describe('token checks that share a statement', () => {
  let service: TestService;
  let tokens: LoginTokens;
  let database: Database;
  const owners: string[] = [];

  beforeAll(async () => {
    service = await TestService.start();
    tokens = service.app.get(LoginTokens);
    database = service.app.get(Database);
    for (const name of ['ann', 'bob', 'cid']) owners.push((await service.givenUser(name)).uid);
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  const payload = (claims: { jti: string; sid: string; sub: string; token_use: TokenUse }) => claims as TokenPayload;

  /** The claims of an access token in the table. */
  async function givenToken(owner = 0, revoked = false): Promise<TokenPayload> {
    const [sid, jti, userId] = [randomUUID(), randomUUID(), owners[owner % owners.length]!];
    const [createdAt, expires] = [service.clock.now(), service.clock.secondsFromNow(900)];
    await tokens.insert(database, { userId, sid, credentialVersion: 0 }, [
      { jti: sid, use: 'refresh', expires, createdAt },
      { jti, use: 'access', expires, createdAt },
    ]);
    if (revoked) await tokens.revokeSession(database, sid);
    return payload({ jti, sid, sub: userId, token_use: 'access' });
  }

  // The service also sends statements of its own, for example to look for waiting mails.
  const ofTokens = (spy: jest.SpiedFunction<Database['rows']>) =>
    spy.mock.calls.filter(([statement]) => statement.includes('FROM login_tokens t'));

  const statements = () => {
    const rows = jest.spyOn(database, 'rows');
    return () => ofTokens(rows).length;
  };

  /** The next statement about tokens fails. */
  function failOnce(method: 'rows' | 'affected'): void {
    const send = database[method].bind(database) as Database['affected'];
    let failed = false;
    jest.spyOn(database, method as 'affected').mockImplementation((statement, values) => {
      if (failed || !statement.includes('login_tokens')) return send(statement, values);
      failed = true;
      return Promise.reject(new Error('the database is unavailable'));
    });
  }

  it('90 parallel checks each get their own result: valid, revoked, unknown, of another user, session or use', async () => {
    const asked: [string, TokenPayload, string][] = [];
    for (let n = 0; n < 15; n++) {
      const good = await givenToken(n);
      asked.push(['good', good, `live ${good.sub}`]);
      asked.push(['revoked', await givenToken(n, true), 'not live']);
      asked.push(['unknown', { ...good, jti: randomUUID() }, 'none']);
      asked.push(['of another user', { ...good, sub: owners[(n + 1) % 3]! }, 'none']);
      asked.push(['of another session', { ...good, sid: randomUUID() }, 'none']);
      asked.push(['of another use', { ...good, token_use: 'refresh' }, 'none']);
    }
    const sent = statements();
    const answers = await Promise.all(asked.map(([, claims]) => tokens.find(claims)));
    const told = answers.map((found) =>
      found === undefined ? 'none' : found.live ? `live ${found.user.uid}` : 'not live',
    );
    expect(told.map((answer, n) => [asked[n]![0], answer])).toEqual(
      asked.map(([what, , expected]) => [what, expected]),
    );
    expect(sent()).toBe(3);
  });

  it('two parallel checks of one token both get a result', async () => {
    const token = await givenToken();
    const answers = await Promise.all([tokens.find(token), tokens.find(token), tokens.find({ ...token, sub: 'x' })]);
    expect(answers.map((found) => found?.user.loginName)).toEqual(['ann', 'ann', undefined]);
  });

  it('nothing is cached: the next check after a logout fails', async () => {
    const token = await givenToken();
    for (let n = 0; n < 20; n++) expect((await tokens.find(token))?.live).toBe(true);
    await tokens.revokeSession(database, token.sid);
    expect((await tokens.find(token))?.live).toBe(false);
  });

  it('a failed statement rejects the checks that share it, and no later checks', async () => {
    const some = await Promise.all([givenToken(0), givenToken(1), givenToken(2)]);
    failOnce('rows');
    const outcomes = await Promise.allSettled(some.map((token) => tokens.find(token)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const again = await Promise.all(some.map((token) => tokens.find(token)));
    expect(again.map((found) => found?.live)).toEqual([true, true, true]);
  });

  describe('refreshes', () => {
    const newToken = () => ({
      jti: randomUUID(),
      use: 'access' as const,
      createdAt: service.clock.now(),
      expires: service.clock.secondsFromNow(900),
    });

    /** The claims of the refresh token of a new session. */
    async function givenRefresh(owner = 0, revoked = false): Promise<TokenPayload> {
      const access = await givenToken(owner, revoked);
      return { ...access, jti: access.sid, token_use: 'refresh' };
    }

    const rowOf = (jti: string) =>
      database.row<{ user_identity: string; sid: string }>(
        'SELECT user_identity, sid FROM login_tokens WHERE jti = ?',
        [jti],
      );

    it('60 parallel refreshes each get their own result and a row for their own session', async () => {
      const asked: [TokenPayload, boolean][] = [];
      for (let n = 0; n < 15; n++) {
        const good = await givenRefresh(n);
        asked.push([good, true], [await givenRefresh(n, true), false]);
        asked.push([{ ...good, jti: randomUUID() }, false], [{ ...good, token_use: 'access' }, false]);
      }
      const sent = jest.spyOn(database, 'affected');
      const given = asked.map(() => newToken());
      const answers = await Promise.all(asked.map(([claims], n) => tokens.insertFrom(claims, given[n]!)));
      expect(answers.map((scope) => scope !== undefined)).toEqual(asked.map(([, good]) => good));
      // At most sixteen refreshes share a statement.
      expect(sent.mock.calls.filter(([statement]) => statement.startsWith('INSERT INTO login_tokens'))).toHaveLength(4);
      for (const [n, [claims, good]] of asked.entries()) {
        const row = await rowOf(given[n]!.jti);
        expect(row).toEqual(good ? { user_identity: claims.sub, sid: claims.sid } : undefined);
      }
    });

    it('each refresh gets the scope of its own user, whatever its token says, with one SELECT for all', async () => {
      const unknown = { directorySeenAt: null, crowded: false, authenticatedAt: null };
      const [acme, other] = ['acme', 'other'].map((tenantId) => ({
        tenantId,
        orgUnitId: `${tenantId} unit`,
        ...unknown,
      }));
      await Promise.all(
        [acme!, other!].map(({ tenantId, orgUnitId }, n) =>
          database.affected('UPDATE users SET tenant_id = ?, org_unit_id = ? WHERE uid = ?', [
            tenantId,
            orgUnitId,
            owners[n]!,
          ]),
        ),
      );
      const root = { tenantId: 'root', orgUnitId: null, ...unknown };
      const rows = jest.spyOn(database, 'rows');
      const good = await Promise.all([0, 1, 2, 0, 1, 2].map((owner) => givenRefresh(owner)));
      await expect(Promise.all(good.map((claims) => tokens.insertFrom(claims, newToken())))).resolves.toEqual([
        ...[acme, other, root],
        ...[acme, other, root],
      ]);
      expect(ofTokens(rows)).toHaveLength(1);
    });

    it('refused refreshes need no further SELECT', async () => {
      const rows = jest.spyOn(database, 'rows');
      const some = await Promise.all([givenRefresh(0, true), givenRefresh(1, true), givenRefresh(2, true)]);
      await expect(Promise.all(some.map((claims) => tokens.insertFrom(claims, newToken())))).resolves.toEqual([
        ...Array<undefined>(3),
      ]);
      expect(ofTokens(rows)).toEqual([]);
    });

    it('a parallel logout leaves no valid token of its session, and does not affect other sessions', async () => {
      for (let round = 0; round < 20; round++) {
        const [leaving, staying] = [await givenRefresh(round), await givenRefresh(round + 1)];
        const given = Array.from({ length: 6 }, () => newToken());
        const refreshes = given.map((token, n) => tokens.insertFrom(n % 2 ? leaving : staying, token));
        const [answers] = await Promise.all([Promise.all(refreshes), tokens.revokeSession(database, leaving.sid)]);
        for (const [n, token] of given.entries()) {
          const from = n % 2 ? leaving : staying;
          const found = await tokens.find({ ...from, jti: token.jti, token_use: 'access' });
          expect(found?.live ?? false).toBe(from === staying);
          if (from === staying) expect(answers[n]).toBeDefined();
        }
      }
    });

    it('a failed statement rejects the refreshes that share it, inserts nothing, and rejects no later refreshes', async () => {
      const some = await Promise.all([givenRefresh(0), givenRefresh(1)]);
      failOnce('affected');
      const outcomes = await Promise.allSettled(some.map((claims) => tokens.insertFrom(claims, newToken())));
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      const again = await Promise.all(some.map((claims) => tokens.insertFrom(claims, newToken())));
      expect(again).not.toContain(undefined);
    });
  });
});
