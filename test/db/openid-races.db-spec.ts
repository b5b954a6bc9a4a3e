import { DataSource } from 'typeorm';
import { TestService } from '../support/app';
import { listStatements } from '../support/count-statements';
import { FakeClock } from '../support/fakes';
import { OidcRecords } from '../../src/applications/persistence/oidc-record.repository';
import { LiveSessions, sessionLives } from '../../src/sessions/live-sessions';
import {
  askForTokens,
  claimsOf,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
} from '../support/openid';

/** Parallel requests go to two replicas in turn. SQLite deployments have one replica. */
describe('races at the OpenID provider (docs/spec/extensions.md#j)', () => {
  let services: [TestService, TestService];
  let application: GivenApplication;
  beforeAll(async () => {
    const clock = new FakeClock();
    const settings = { ...openIdSettings, RATE_LIMIT: 'off' };
    const first = await TestService.start(settings, { clock });
    const second = __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, { clock, store: first.store });
    services = [first, second];
    application = await givenApplication(first);
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const at = (n: number): TestService => services[n % 2]!;
  let users = 0;
  const given = async () => {
    const name = `openid${++users}`;
    const { uid } = await at(0).givenUser(name);
    const { access } = await at(0).session(name);
    const browser = new OpenIdBrowser(at(0));
    return { uid, access, authorization: await browser.signIn(application, access) };
  };
  const refresh = (token: unknown, n = 0) =>
    askForTokens(at(n), application, { grant_type: 'refresh_token', refresh_token: String(token) });
  const expectDead = async (tokens: Record<string, unknown>) => {
    expect((await at(1).get('/oidc/me', { bearer: String(tokens.access_token) })).status).toBe(401);
    expect((await refresh(tokens.refresh_token, 1)).body.error).toBe('invalid_grant');
  };

  it('T477 of 20 uses of one code at once, one gets tokens, none of them lives, and one row of the audit says so', async () => {
    const { uid, authorization } = await given();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => exchange(at(n), application, authorization)),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error as string))).toEqual(
      new Set(['invalid_grant']),
    );
    await expectDead(won[0]!.body as Record<string, unknown>);
    expect(await at(0).count('audit_logs', "event = 'APPLICATION_TOKEN_REUSED' AND user_id = ?", [uid])).toBe(1);
  });

  it('T486 disabling during the exchange of a code: no token lives, whichever comes first', async () => {
    for (let round = 0; round < 8; round++) {
      const { uid, authorization } = await given();
      const [answer] = await Promise.all([
        exchange(at(0), application, authorization),
        at(1).database.affected('UPDATE users SET status = -1 WHERE uid = ?', [uid]),
      ]);
      if (answer.status === 200) await expectDead(answer.body as Record<string, unknown>);
      else expect(answer.body.error).toBe('invalid_grant');
    }
  });

  it('T486 the end of the session during a refresh: no token lives, whichever comes first', async () => {
    for (let round = 0; round < 8; round++) {
      const { access, authorization } = await given();
      const { body } = await exchange(at(0), application, authorization);
      const [answer] = await Promise.all([
        refresh(body.refresh_token),
        at(1).post('/logout', undefined, { bearer: access }),
      ]);
      if (answer.status === 200) await expectDead(answer.body as Record<string, unknown>);
      else expect(answer.body.error).toBe('invalid_grant');
    }
  });

  it('a token comes with what it depends on in one statement, and a refresh needs four', async () => {
    const { authorization } = await given();
    const { body } = await exchange(at(0), application, authorization);
    const statements = listStatements(at(0).app.get(DataSource));
    // The token with its grant, session, user and application.
    expect(await statements(() => at(0).get('/oidc/me', { bearer: String(body.access_token) }))).toEqual(['SELECT']);
    // The token with all of it and with the application that asks, its use, and the two tokens that replace it.
    expect(await statements(() => refresh(body.refresh_token))).toEqual(['SELECT', 'UPDATE', 'INSERT', 'INSERT']);
  });

  it('of tokens that share a statement each gets its own answer, and what has ended is refused', async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const user = await given();
        return { ...user, tokens: (await exchange(at(0), application, user.authorization)).body };
      }),
    );
    const { database } = at(0);
    const [loggedOut, disabled, changed, withdrawn, ...living] = all;
    await at(1).post('/logout', undefined, { bearer: loggedOut!.access });
    await database.affected('UPDATE users SET status = -1 WHERE uid = ?', [disabled!.uid]);
    await database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [
      changed!.uid,
    ]);
    await database.affected("DELETE FROM oidc_records WHERE kind = 'Grant' AND user_id = ?", [withdrawn!.uid]);
    const ask = (token: unknown) => at(0).get('/oidc/me', { bearer: String(token) });
    const answers = await Promise.all([...all.map(({ tokens }) => ask(tokens.access_token)), ask('unknown')]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 200, 200, 401]);
    expect(answers.slice(4, 6).map(({ body }) => body.sub as string)).toEqual(living.map(({ uid }) => uid));
    const renewed = await Promise.all(all.map(({ tokens }) => refresh(tokens.refresh_token)));
    expect(renewed.map(({ status }) => status)).toEqual([400, 400, 400, 400, 200, 200]);
    expect(renewed.slice(4).map(({ body }) => claimsOf(String(body.id_token)).sub)).toEqual(
      living.map(({ uid }) => uid),
    );
  });

  it('an application that is disabled or deleted counts at once, at the next use of its tokens', async () => {
    const own = await givenApplication(at(0));
    const { access } = await given();
    const authorization = await new OpenIdBrowser(at(0)).signIn(own, access);
    const { body } = await exchange(at(0), own, authorization);
    const status = async () => (await at(0).get('/oidc/me', { bearer: String(body.access_token) })).status;
    expect(await status()).toBe(200);
    await at(1).database.affected('UPDATE applications SET enabled = FALSE WHERE id = ?', [own.id]);
    expect(await status()).toBe(401);
    await at(1).database.affected('UPDATE applications SET enabled = TRUE WHERE id = ?', [own.id]);
    expect(await status()).toBe(200);
    await at(1).database.affected('DELETE FROM applications WHERE id = ?', [own.id]);
    expect(await status()).toBe(401);
  });

  it('records that are stored at once are all stored, also when the table has one of them', async () => {
    const records = at(0).app.get(OidcRecords);
    const put = (id: string, n: number) =>
      records.put('AccessToken', id, { n }, { expires: at(0).clock.secondsFromNow(60) });
    await put('shared-1', 0);
    await Promise.all([1, 2, 3].map((n) => put(`shared-${n}`, n)));
    const found = await Promise.all([1, 2, 3].map((n) => records.find('AccessToken', `shared-${n}`)));
    expect(found.map((record) => record?.payload)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('the statement about a token agrees with the check of a session about what has ended it', async () => {
    const { uid, access } = await given();
    const service = at(0);
    const { sid } = claimsOf(access) as { sid: string };
    const { credential_version: version } = await service.userRow(uid);
    const sessions = service.app.get(LiveSessions);
    const agreed = async (of = { sid, uid, version: Number(version) }) => {
      const text = (value: string) => `'${value}'`;
      const row = await service.database.row<{ lives: unknown }>(
        `SELECT ${sessionLives(text(of.sid), text(of.uid), String(of.version))} AS lives`,
        [service.clock.now()],
      );
      const found = await sessions.find(of.sid, { uid: of.uid, credentialVersion: of.version });
      expect(Number(row?.lives) === 1).toBe(found !== undefined);
      return found !== undefined;
    };
    const present = { sid, uid, version: Number(version) };
    expect(await agreed()).toBe(true);
    expect(await agreed({ ...present, version: present.version + 1 })).toBe(false);
    expect(await agreed({ ...present, uid: (await given()).uid })).toBe(false);
    expect(await agreed({ ...present, sid: String(claimsOf(access).jti) })).toBe(false);
    const set = (column: string, value: Date | boolean) =>
      service.database.affected(`UPDATE login_tokens SET ${column} = ? WHERE jti = ?`, [value, sid]);
    await set('is_revoked', true);
    expect(await agreed()).toBe(false);
    await set('is_revoked', false);
    expect(await agreed()).toBe(true);
    await set('expires', service.clock.now());
    expect(await agreed()).toBe(false);
  });
});
