import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { timeOf } from '../../src/platform/database/sql';
import { LoginTokens } from '../../src/sessions/persistence/login-token.repository';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { password, tally, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';

describe('/refresh, /logout and /user/me', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const me = (bearer: string) => service.get('/user/me', { bearer });
  const refresh = (bearer: string) => service.post('/refresh', undefined, { bearer });

  /** The service also sends statements of its own meanwhile, for example to look for waiting mails. */
  async function statementsAboutTokens(work: () => Promise<unknown>): Promise<string[]> {
    const rows = jest.spyOn(service.database, 'rows');
    await work();
    const sent = rows.mock.calls.map(([statement]) => statement).filter((one) => one.includes('login_tokens'));
    rows.mockRestore();
    return sent;
  }

  it('T145 /refresh issues a new access token with its own row, and the refresh token stays valid', async () => {
    const user = await service.givenUser('t145');
    const { access, refresh: token } = await service.session('t145');
    const { status, body } = await refresh(token);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      access_token: expect.any(String),
      refresh_token: token,
      token_type: 'Bearer',
      expires_in: 900,
    });
    const [before, after] = [decodeJwt(access), decodeJwt(body.data.access_token as string)];
    expect(after).toMatchObject({
      sub: user.uid,
      sid: before.sid,
      token_use: 'access',
      amr: ['pwd'],
      tenant_id: 'root',
    });
    expect(after.jti).not.toBe(before.jti);
    expect(await service.count('login_tokens', 'jti = ?', [String(after.jti)])).toBe(1);
    expect((await me(body.data.access_token as string)).status).toBe(200);
  });

  it('/refresh also takes the refresh token in the body, when no bearer token is sent', async () => {
    await service.givenUser('in-body');
    const { access, refresh: token } = await service.session('in-body');
    expect((await service.post('/refresh', { refresh_token: token })).status).toBe(200);
    expect((await service.post('/refresh', { refresh_token: access })).body.error_code).toBe('AUTH_401006');
    expect((await service.post('/refresh')).body.error_code).toBe('AUTH_401006');
  });

  it('no other route takes a token in the body, whatever the scheme of the Authorization header', async () => {
    await service.givenUser('body-elsewhere');
    const { access, refresh: token } = await service.session('body-elsewhere');
    for (const authorization of ['Basic YTpi', 'Bearer', 'Token x']) {
      for (const path of ['/logout', '/totp-secret']) {
        for (const refresh_token of [access, token]) {
          const { body } = await service.post(path, { refresh_token }, { headers: { authorization } });
          expect(body.error_code).toBe('AUTH_401001');
        }
      }
    }
  });

  it('T146 an access token cannot refresh, and a refresh token opens no other route', async () => {
    await service.givenUser('t146');
    const { access, refresh: token } = await service.session('t146');
    expect((await refresh(access)).body).toMatchObject({ error_code: 'AUTH_401006' });
    expect((await me(token)).body).toMatchObject({ error_code: 'AUTH_401001' });
  });

  it('/user/me tells when the password expires, or null for a directory user', async () => {
    const passwordSetAt = new Date(service.clock.now().getTime() - 86_400_000);
    const { uid } = await service.givenUser('expiring', { passwordSetAt });
    const expiry = async () => {
      const { access } = await service.session('expiring');
      return (await me(access)).body.data.password_expires_at as string | null;
    };
    expect(await expiry()).toBe(new Date(passwordSetAt.getTime() + 90 * 86_400_000).toISOString());
    // Without an entry in the history, the password is as old as the account.
    await service.database.affected('DELETE FROM user_change_pwd_logs WHERE user_id = ?', [uid]);
    expect(await expiry()).toBe(new Date(service.clock.now().getTime() + 90 * 86_400_000).toISOString());
    const { access } = await service.session('expiring');
    await service.database.affected("UPDATE users SET provider = 'ldap' WHERE uid = ?", [uid]);
    expect((await me(access)).body.data.password_expires_at).toBeNull();
  });

  it('/user/me reads the time of the password once for each token, and shows a new password at once', async () => {
    await service.givenUser('new-password');
    const session = await service.session('new-password');
    const before = await me(session.access);
    const again = await statementsAboutTokens(async () => {
      expect((await me(session.access)).body).toEqual(before.body);
    });
    expect(again.map((statement) => statement.includes('user_change_pwd_logs'))).toEqual([false]);
    service.clock.advanceSeconds(60);
    const [from, to] = [password, 'Another-Horse-8'];
    const change = { current_password: from, password: to, confirm_password: to };
    const changed = await service.post('/user/change-password', change, { bearer: session.access });
    expect((await me(session.access)).status).toBe(401);
    const after = await me(changed.body.data.access_token as string);
    const expires = (answer: typeof before) => Date.parse(answer.body.data.password_expires_at as string);
    expect(expires(after) - expires(before)).toBe(60_000);
  });

  it('/user/me reads the token, the user and the account with one statement', async () => {
    await service.givenUser('one-statement');
    const { access } = await service.session('one-statement');
    const checks = await statementsAboutTokens(() => me(access));
    expect(checks).toHaveLength(1);
    expect(checks[0]).toContain('recovery_codes');
  });

  it('/user/me answers the user and the tenant and organisation scope of the token', async () => {
    const user = await service.givenUser('scope', { isAdmin: true });
    const { access } = await service.session('scope');
    const { status, body } = await me(access);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      uid: user.uid,
      login_name: 'scope',
      nickname: 'scope',
      identity_provider: null,
      identity_provider_name: null,
      email: 'scope@example.com',
      is_admin: true,
      role: null,
      mfa_type: 'email',
      tenant_id: 'root',
      org_unit_id: null,
      groups: [],
      password_expires_at: new Date(service.clock.now().getTime() + 90 * 86_400_000).toISOString(),
      recovery_codes_left: 0,
      passkeys: 0,
      session: {
        sid: decodeJwt(access).sid,
        amr: ['pwd'],
        issued_at: service.clock.now().toISOString(),
        expires: service.clock.secondsFromNow(900).toISOString(),
      },
    });
  });

  it.each(['access', 'refresh'] as const)(
    'T147 T148 /logout with the %s token ends all tokens of the login at once',
    async (which) => {
      await service.givenUser(`logout-${which}`);
      const session = await service.session(`logout-${which}`);
      const later = (await refresh(session.refresh)).body.data.access_token as string;
      const { status, body } = await service.post('/logout', undefined, { bearer: session[which] });
      expect([status, body.data]).toEqual([200, { result: true }]);
      for (const token of [session.access, later]) expect((await me(token)).body.error_code).toBe('AUTH_401004');
      expect((await refresh(session.refresh)).body.error_code).toBe('AUTH_401006');
      const { sid } = decodeJwt(session.access);
      expect(await service.count('login_tokens', 'sid = ? AND is_revoked = 0', [String(sid)])).toBe(0);
    },
  );

  it('T149 a second /logout gets 401', async () => {
    await service.givenUser('t149');
    const { access } = await service.session('t149');
    await service.post('/logout', undefined, { bearer: access });
    expect((await service.post('/logout', undefined, { bearer: access })).body.error_code).toBe('AUTH_401004');
  });

  it('of log-outs of one session that have passed the guard one ends it, and the audit says it once', async () => {
    const { uid } = await service.givenUser('hasty');
    const { access } = await service.session('hasty');
    type Given = Parameters<TokenRevoker['revokeSession']>;
    const session = { payload: decodeJwt(access) } as unknown as Given[0];
    const client = { ip: '127.0.0.1' } as Given[1];
    for (let n = 0; n < 3; n++) await service.app.get(TokenRevoker).revokeSession(session, client);
    expect(await service.count('audit_logs', "event = 'SESSION_CLOSED' AND user_id = ?", [uid])).toBe(1);
  });

  it('T024 T150 a logout does not end another session of the same user', async () => {
    await service.givenUser('t150');
    const [first, second] = [await service.session('t150'), await service.session('t150')];
    await service.post('/logout', undefined, { bearer: first.access });
    expect((await me(second.access)).status).toBe(200);
    expect((await refresh(second.refresh)).status).toBe(200);
  });

  it('T158 T172 tokens expire on time, and no access token outlives its session', async () => {
    await service.givenUser('t158');
    const { access, refresh: token } = await service.session('t158');
    service.clock.advanceSeconds(899);
    expect((await me(access)).status).toBe(200);
    service.clock.advanceSeconds(1);
    expect((await me(access)).body.error_code).toBe('AUTH_401002');
    service.clock.advanceSeconds(7 * 86_400 - 900 - 60);
    const last = (await refresh(token)).body.data;
    expect(last.expires_in).toBe(60);
    expect(decodeJwt(last.access_token as string).exp).toBe(decodeJwt(token).exp);
    service.clock.advanceSeconds(60);
    expect((await refresh(token)).body.error_code).toBe('AUTH_401006');
    expect((await me(last.access_token as string)).body.error_code).toBe('AUTH_401002');
  });

  describe('T161 events that end the tokens of a user', () => {
    const revoker = () => service.app.get(TokenRevoker, { strict: false });

    it('a disabled account: its tokens are refused at once', async () => {
      const user = await service.givenUser('disabled-later');
      const { access, refresh: token } = await service.session('disabled-later');
      await service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [user.uid]);
      expect((await me(access)).body.error_code).toBe('AUTH_401004');
      expect((await refresh(token)).body.error_code).toBe('AUTH_401006');
    });

    it('revoke-tokens: the existing tokens are refused, but not those of the next login or of another user', async () => {
      const user = await service.givenUser('revoked');
      await service.givenUser('bystander');
      const [session, other] = [await service.session('revoked'), await service.session('bystander')];
      const revoked = await service.database.transaction((tx) => revoker().revokeAll(tx, user.uid));
      expect(revoked).toBe(2);
      expect((await me(session.access)).body.error_code).toBe('AUTH_401004');
      expect((await me(other.access)).status).toBe(200);
      expect((await me((await service.session('revoked')).access)).status).toBe(200);
    });

    it('a newer credential version: a token whose row is not marked as revoked is refused as well', async () => {
      const user = await service.givenUser('late');
      const { access } = await service.session('late');
      const late = decodeJwt(access);
      await service.database.transaction((tx) => revoker().revokeAll(tx, user.uid));
      await service.database.affected('UPDATE login_tokens SET is_revoked = 0 WHERE user_identity = ?', [user.uid]);
      expect((await me(access)).body.error_code).toBe('AUTH_401004');
      expect(late.sub).toBe(user.uid);
    });

    it('a logout: a token of the session whose row is not marked as revoked is refused as well', async () => {
      await service.givenUser('late-logout');
      const { access, refresh: token } = await service.session('late-logout');
      const late = (await refresh(token)).body.data.access_token as string;
      await service.post('/logout', undefined, { bearer: access });
      await service.database.affected('UPDATE login_tokens SET is_revoked = 0 WHERE jti = ?', [
        String(decodeJwt(late).jti),
      ]);
      expect((await me(late)).body.error_code).toBe('AUTH_401004');
    });
  });

  it('T165 50 parallel refreshes without rotation issue 50 tokens with different ids', async () => {
    await service.givenUser('t165');
    const { refresh: token } = await service.session('t165');
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(token)));
    expect(tally(answers)).toEqual({ success: 50 });
    expect(new Set(answers.map(({ body }) => decodeJwt(body.data.access_token as string).jti)).size).toBe(50);
  });

  it('a refresh token that rotation has replaced stays invalid when rotation is switched off', async () => {
    await service.givenUser('switched-off');
    const { refresh: token } = await service.session('switched-off');
    const { jti } = decodeJwt(token);
    await service.database.affected('UPDATE login_tokens SET successor_jti = ? WHERE jti = ?', [
      randomUUID(),
      String(jti),
    ]);
    expect((await refresh(token)).body.error_code).toBe('AUTH_401006');
  });

  it('no token that 50 refreshes issue in parallel with a logout can be used afterwards', async () => {
    await service.givenUser('beside');
    const { access, refresh: token } = await service.session('beside');
    const before = Array.from({ length: 25 }, () => refresh(token));
    // The logout is sent after the first answer, so that some tokens are issued. Otherwise it could precede all
    // refreshes.
    await Promise.race(before);
    const logout = service.post('/logout', undefined, { bearer: access });
    const after = Array.from({ length: 25 }, () => refresh(token));
    const answers = await Promise.all([...before, logout, ...after]);
    const issued = answers.map(({ body }) => body.data?.access_token as string).filter(Boolean);
    const uses = await Promise.all(issued.map(me));
    expect(issued.length).toBeGreaterThan(0);
    expect(tally(uses)).toEqual({ AUTH_401004: issued.length });
  });
});

describe.each(['false', 'true'])('a user who was moved to another tenant, with rotation %s', (rotation) => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ REFRESH_TOKEN_ROTATION: rotation });
    const now = service.clock.now();
    await service.database.affected('INSERT INTO tenants (id, name, created_at) VALUES (?, ?, ?)', ['moon', 'M', now]);
    await service.database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('crater', 'moon', 'C')");
  });
  afterAll(() => service.stop());

  const move = (uid: string, tenant: string, unit: string | null) =>
    service.database.affected('UPDATE users SET tenant_id = ?, org_unit_id = ? WHERE uid = ?', [tenant, unit, uid]);
  const scopeOf = (jwt: string) => {
    const { tenant_id: tenant, org_unit_id: unit } = decodeJwt(jwt);
    return { tenant, unit };
  };
  const refresh = async (bearer: string) => {
    const { access_token, refresh_token } = (await service.post('/refresh', undefined, { bearer })).body.data;
    return { access: access_token as string, refresh: refresh_token as string };
  };
  const [root, moon] = [
    { tenant: 'root', unit: null },
    { tenant: 'moon', unit: 'crater' },
  ];

  it('gets tokens with the new scope at the next refresh, and with the old scope after being moved back', async () => {
    const user = await service.givenUser('moved');
    const first = await service.session('moved');
    expect([first.access, first.refresh].map(scopeOf)).toEqual([root, root]);
    await move(user.uid, 'moon', 'crater');
    const second = await refresh(first.refresh);
    expect(scopeOf(second.access)).toEqual(moon);
    await move(user.uid, 'root', null);
    const third = await refresh(second.refresh);
    expect(scopeOf(third.access)).toEqual(root);
    if (rotation === 'true') expect([second.refresh, third.refresh].map(scopeOf)).toEqual([moon, root]);
  });

  it('gets the same successor within the grace period, with the new scope', async () => {
    const user = await service.givenUser('moved-in-grace');
    const parent = (await service.session('moved-in-grace')).refresh;
    const before = await refresh(parent);
    await move(user.uid, 'moon', 'crater');
    const again = await refresh(parent);
    expect(decodeJwt(again.refresh).jti).toBe(decodeJwt(before.refresh).jti);
    expect(scopeOf(again.access)).toEqual(moon);
    if (rotation === 'true') expect(scopeOf(again.refresh)).toEqual(moon);
  });
});

/** Advances at each reading, as a real clock does while a request is served. */
class AdvancingClock extends FakeClock {
  override now(): Date {
    this.advanceSeconds(0.35);
    return super.now();
  }
}

describe.each(['false', 'true'])('the lifetimes of tokens with rotation %s', (rotation) => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ REFRESH_TOKEN_ROTATION: rotation }, { clock: new AdvancingClock() });
  });
  afterAll(() => service.stop());

  it('equal the settings exactly, in the claims, in expires_in and in the rows', async () => {
    await service.givenUser('lifetimes');
    const { access, refresh: token } = await service.session('lifetimes');
    const { body } = await service.post('/refresh', undefined, { bearer: token });
    expect(body.data.expires_in).toBe(900);
    for (const [jwt, ttl] of [
      [access, 900],
      [token, 604_800],
      [body.data.access_token as string, 900],
    ] as const) {
      const { jti, iat = 0, exp = 0 } = decodeJwt(jwt);
      expect(exp - iat).toBe(ttl);
      const row = await service.database.row<{ expires: unknown; created_at: unknown }>(
        'SELECT expires, created_at FROM login_tokens WHERE jti = ?',
        [String(jti)],
      );
      expect(timeOf(row?.expires).getTime() - timeOf(row?.created_at).getTime()).toBe(ttl * 1000);
    }
  });
});

describe('REFRESH_TOKEN_ROTATION (RFC 9700 §4.14.2)', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ REFRESH_TOKEN_ROTATION: 'true' });
  });
  afterAll(() => service.stop());

  const refresh = (bearer: string) => service.post('/refresh', undefined, { bearer });
  const rotated = async (bearer: string) => (await refresh(bearer)).body.data.refresh_token as string;

  it('the successor of a refresh token has the same expiry as the replaced token', async () => {
    await service.givenUser('rotated');
    const { refresh: first } = await service.session('rotated');
    service.clock.advanceSeconds(3600);
    const second = await rotated(first);
    expect(decodeJwt(second)).toMatchObject({
      exp: decodeJwt(first).exp,
      sid: decodeJwt(first).sid,
      token_use: 'refresh',
    });
    expect(decodeJwt(second).jti).not.toBe(decodeJwt(first).jti);
    expect((await refresh(second)).status).toBe(200);
  });

  it('T166 T169 50 parallel uses of one refresh token all get the same successor within the grace period', async () => {
    await service.givenUser('t166');
    const { refresh: parent } = await service.session('t166');
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(parent)));
    expect(tally(answers)).toEqual({ success: 50 });
    // Two signatures with ES256 differ, also for the same token.
    expect(new Set(answers.map(({ body }) => decodeJwt(body.data.refresh_token as string).jti)).size).toBe(1);
  });

  it('T167 T170 a reuse after the grace period ends the whole session and leaves an audit row', async () => {
    const user = await service.givenUser('t167');
    const session = await service.session('t167');
    const successor = await rotated(session.refresh);
    service.clock.advanceSeconds(11);
    expect((await refresh(session.refresh)).body.error_code).toBe('AUTH_401006');
    expect((await refresh(successor)).body.error_code).toBe('AUTH_401006');
    expect((await service.get('/user/me', { bearer: session.access })).body.error_code).toBe('AUTH_401004');
    expect(await service.count('audit_logs', "event = 'REFRESH_TOKEN_REUSED' AND user_id = ?", [user.uid])).toBe(1);
  });

  describe('in parallel with a logout', () => {
    const reuses = (uid: string) =>
      service.count('audit_logs', "event = 'REFRESH_TOKEN_REUSED' AND user_id = ?", [uid]);

    it.each(['logout-first', 'refresh-first'])(
      'a refresh is not taken for a reuse: 60 rounds, %s, without an audit row',
      async (order) => {
        const user = await service.givenUser(order);
        for (let round = 0; round < 60; round++) {
          const session = await service.session(order);
          const logout = () => service.post('/logout', undefined, { bearer: session.access });
          const both = order === 'logout-first' ? [logout, refreshOf(session)] : [refreshOf(session), logout];
          for (const { status, body } of await Promise.all(both.map((ask) => ask()))) {
            expect([status, body.error_code]).toEqual(status === 200 ? [200, undefined] : [401, 'AUTH_401006']);
          }
          expect((await refresh(session.refresh)).body.error_code).toBe('AUTH_401006');
        }
        expect(await reuses(user.uid)).toBe(0);
      },
    );

    it('a refresh whose session is logged out between its check and its claim gets AUTH_401006, and is not a reuse', async () => {
      const user = await service.givenUser('between');
      const session = await service.session('between');
      const tokens = service.app.get(LoginTokens);
      const claim = tokens.claimSuccession.bind(tokens);
      jest.spyOn(tokens, 'claimSuccession').mockImplementationOnce(async (tx, ...rest) => {
        // The logout is in the transaction of the refresh, because SQLite has one writer. In production, another
        // request commits the logout.
        await tokens.revokeSession(tx, String(decodeJwt(session.refresh).sid));
        return claim(tx, ...rest);
      });
      expect((await refresh(session.refresh)).body.error_code).toBe('AUTH_401006');
      expect(await reuses(user.uid)).toBe(0);
    });

    it('a real reuse is still detected', async () => {
      const user = await service.givenUser('reused-beside');
      const session = await service.session('reused-beside');
      await rotated(session.refresh);
      service.clock.advanceSeconds(11);
      await refresh(session.refresh);
      expect(await reuses(user.uid)).toBe(1);
    });

    const refreshOf = (session: { refresh: string }) => () => refresh(session.refresh);
  });

  it('T168 a refresh token two generations back is a reuse even within the grace period', async () => {
    await service.givenUser('t168');
    const { refresh: first } = await service.session('t168');
    const second = await rotated(first);
    const third = await rotated(second);
    expect((await refresh(first)).body.error_code).toBe('AUTH_401006');
    expect((await refresh(third)).body.error_code).toBe('AUTH_401006');
  });
});

describe('without an expiry of passwords', () => {
  it('/user/me tells null instead of its time', async () => {
    const forever = await TestService.start({ PASSWORD_EXPIRE_DAYS: '0' });
    await forever.givenUser('forever');
    const session = await forever.session('forever');
    const { body } = await forever.get('/user/me', { bearer: session.access });
    expect(body.data.password_expires_at).toBeNull();
    await forever.stop();
  });
});
