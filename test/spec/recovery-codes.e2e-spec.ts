import { decodeJwt } from 'jose';
import { canonicalRecoveryCode } from '../../src/mfa/codes/recovery-code';
import { RecoveryCodes } from '../../src/mfa/recovery-codes';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { recoveryCodesOfFormerKeys } from '../../src/mfa/recovery-codes-left';
import { resetSecondFactor } from '../support/operator';
import { type Answer, tally, TestService } from '../support/app';
import { MfaClient, mfaSettings, pairOf } from '../support/mfa';
import { dataKey } from '../support/settings';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Another code that differs in its last character. Each `n` from 1 to 31 gives another one. */
function wrong(code: string, n = 1): string {
  return code.slice(0, -1) + alphabet[(alphabet.indexOf(code.at(-1)!) + n) % alphabet.length]!;
}

describe('recovery codes', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  const make = async (access: string): Promise<string[]> => {
    const answer = await mfa.service.post('/recovery-codes', undefined, { bearer: access });
    if (answer.status !== 200) throw new Error(`recovery-codes answered ${JSON.stringify(answer.body)}`);
    return answer.body.data.codes as string[];
  };
  const summary = async (access: string): Promise<{ left: number; created_at: string | null }> =>
    (await mfa.service.get('/recovery-codes', { bearer: access })).body.data;
  const givenCodes = async (name: string) => {
    const user = await mfa.givenUser(name);
    const { access } = await mfa.session(user);
    return { user, access, codes: await make(access) };
  };
  const leftAtMe = async (access: string) =>
    (await mfa.service.get('/user/me', { bearer: access })).body.data.recovery_codes_left as number;
  const failedCount = async (uid: string) => Number((await mfa.service.userRow(uid)).mfa_failed_count);
  const refused = { status: 401, body: { error_code: 'AUTH_MFA_401001' } };

  describe('making them', () => {
    it('answers ten different codes of the form xxxxx-xxxxx, once, and only HMACs are stored (T284)', async () => {
      const { user, access, codes } = await givenCodes('made');
      expect(codes).toHaveLength(10);
      expect(new Set(codes).size).toBe(10);
      for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
      expect(await summary(access)).toEqual({ left: 10, created_at: mfa.now.toISOString() });
      expect(await leftAtMe(access)).toBe(10);
      const tables = ['recovery_codes', 'audit_logs', 'login_logs', 'mail_outbox'];
      const stored = await Promise.all(tables.map((table) => mfa.service.database.rows(`SELECT * FROM ${table}`)));
      const texts = JSON.stringify([stored, mfa.service.logLines, await mfa.mails(user, 'recovery-codes-made')]);
      for (const code of codes) {
        expect(texts).not.toContain(code);
        expect(texts).not.toContain(canonicalRecoveryCode(code));
      }
    });

    it('shows them at once at a token that was checked before, with a second statement that is sent once', async () => {
      const user = await mfa.givenUser('seen-before');
      const { access } = await mfa.session(user);
      const rows = jest.spyOn(mfa.service.database, 'rows');
      const checks = async () => {
        rows.mockClear();
        const left = await leftAtMe(access);
        const sent = rows.mock.calls.map(([statement]) => statement).filter((one) => one.includes('login_tokens'));
        return { left, counting: sent.map((statement) => statement.includes('recovery_codes')) };
      };
      expect(await checks()).toEqual({ left: 0, counting: [true] });
      expect(await checks()).toEqual({ left: 0, counting: [false] });
      await make(access);
      expect(await checks()).toEqual({ left: 10, counting: [false, true] });
      expect(await checks()).toEqual({ left: 10, counting: [true] });
      rows.mockRestore();
    });

    it('is audited, and a mail tells the owner', async () => {
      const { user } = await givenCodes('told');
      expect(await mfa.events(user, 'RECOVERY_CODES_CREATED')).toHaveLength(1);
      expect(await mfa.mails(user, 'recovery-codes-made')).toMatchObject([{ ip: '127.0.0.1' }]);
    });

    it('replaces all earlier codes, used or not (T283)', async () => {
      const { user, access, codes } = await givenCodes('replaced');
      const first = await mfa.logInByMail(user);
      expect((await mfa.verify(first.uid, 'recovery', codes[0])).status).toBe(200);
      const newer = await make(access);
      expect(await summary(access)).toMatchObject({ left: 10 });
      const { uid } = await mfa.logInByMail(user);
      expect(await mfa.verify(uid, 'recovery', codes[1])).toMatchObject(refused);
      expect((await mfa.verify(uid, 'recovery', newer[1])).status).toBe(200);
    });

    it('needs a young session: a token that was refreshed later does not help (T281)', async () => {
      const user = await mfa.givenUser('old-session');
      const { access, refresh } = await mfa.session(user);
      mfa.service.clock.advanceSeconds(301);
      const old = await mfa.service.post('/recovery-codes', undefined, { bearer: access });
      expect(old).toMatchObject({ status: 403, body: { error_code: 'AUTH_403002' } });
      const refreshed = (await mfa.service.post('/refresh', { refresh_token: refresh })).body.data
        .access_token as string;
      expect(await mfa.service.post('/recovery-codes', undefined, { bearer: refreshed })).toMatchObject({
        body: { error_code: 'AUTH_403002' },
      });
      expect(await summary(refreshed)).toEqual({ left: 0, created_at: null });
    });

    it.each([['nothing'], ['a refresh token'], ['junk']])(
      'with %s instead of an access token is refused',
      async (what) => {
        const user = await mfa.givenUser(`bearer-${what.length}`);
        const { refresh } = await mfa.session(user);
        const bearer = what === 'nothing' ? undefined : what === 'junk' ? 'junk' : refresh;
        for (const method of ['POST', 'GET'] as const) {
          const answer = await mfa.service.send(method, '/recovery-codes', undefined, { bearer });
          expect(answer).toMatchObject({ status: 401, body: { error_code: 'AUTH_401001' } });
        }
      },
    );
  });

  describe('a login', () => {
    it('by e-mail and one by authenticator can be finished with a recovery code, whose session has a second factor', async () => {
      const byMail = await givenCodes('by-mail');
      const { user, access } = await mfa.givenAuthenticator('by-totp');
      const codes = await make(access);
      for (const [owner, code] of [
        [byMail.user, byMail.codes[3]],
        [user, codes[3]],
      ] as const) {
        mfa.service.clock.advanceSeconds(61);
        const { uid, mfaToken } = await mfa.logIn(owner.loginName);
        const answer = await mfa.verify(uid, 'recovery', code, { mfa_token: mfaToken });
        expect(answer.body.data.device_token).toBeNull();
        const pair = pairOf(answer);
        expect(decodeJwt(pair.access).amr).toEqual(['pwd', 'otp']);
        expect((await mfa.service.get('/user/me', { bearer: pair.access })).status).toBe(200);
        const [entry] = await mfa.service.database.rows<{ mfa: string; outcome: string }>(
          'SELECT mfa, outcome FROM login_logs WHERE user_id = ? ORDER BY id DESC LIMIT 1',
          [uid],
        );
        expect(entry).toEqual({ mfa: 'recovery', outcome: 'success' });
      }
    });

    it('spends the code: it never works again, also not after the clock was set back (T283)', async () => {
      const { user, codes, access } = await givenCodes('once');
      const { uid } = await mfa.logInByMail(user);
      expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
      const next = await mfa.logInByMail(user);
      for (const seconds of [0, -90, 90]) {
        mfa.service.clock.advanceSeconds(seconds);
        expect(await mfa.verify(next.uid, 'recovery', codes[0])).toMatchObject(refused);
      }
      expect(await summary(access)).toMatchObject({ left: 9 });
      expect(await leftAtMe(access)).toBe(9);
    });

    it('a mail tells how many codes are left, and it never contains a code', async () => {
      const { user, codes } = await givenCodes('mailed');
      for (const [n, left] of [
        [0, 9],
        [1, 8],
      ] as const) {
        const { uid } = await mfa.logInByMail(user);
        expect((await mfa.verify(uid, 'recovery', codes[n])).status).toBe(200);
        const mails = await mfa.mails(user, 'recovery-code-used');
        expect(mails.at(-1)).toMatchObject({ left, ip: '127.0.0.1' });
        expect(JSON.stringify(mails)).not.toContain(codes[n]);
      }
      expect(await mfa.events(user, 'RECOVERY_CODE_USED')).toEqual([{ left: 9 }, { left: 8 }]);
    });

    it('hyphen, case and look-alikes do not matter', async () => {
      const { user, codes } = await givenCodes('typed');
      const spellings: ((code: string) => string)[] = [
        (code) => code.replace('-', ''),
        (code) => code.toUpperCase(),
        (code) => code.replaceAll('0', 'O').replaceAll('1', 'l'),
        (code) => code.replaceAll('0', 'o').replaceAll('1', 'I'),
        (code) => ` ${code.replace('-', ' ')}\n`,
      ];
      for (const [n, spell] of spellings.entries()) {
        const { uid } = await mfa.logInByMail(user);
        expect((await mfa.verify(uid, 'recovery', spell(codes[n]!))).status).toBe(200);
      }
    });

    it('T064 without a pending login a right code is refused, and nothing is counted', async () => {
      const { user, codes, access } = await givenCodes('no-login');
      expect(await mfa.verify(user.uid, 'recovery', codes[0])).toMatchObject(refused);
      expect(await failedCount(user.uid)).toBe(0);
      expect(await summary(access)).toMatchObject({ left: 10 });
      expect(await mfa.verify('00000000-0000-4000-8000-000000000001', 'recovery', codes[0])).toMatchObject(refused);
    });

    it('a stranger who knows the uid and a code can use neither, and uses up no attempt', async () => {
      const { user, codes } = await givenCodes('stranger');
      const { uid } = await mfa.logInByMail(user);
      const stranger = { ip: '198.51.100.7' };
      expect(await mfa.verify(uid, 'recovery', codes[0], {}, stranger)).toMatchObject(refused);
      expect(await mfa.verify(uid, 'recovery', codes[0], { mfa_token: 'x' })).toMatchObject(refused);
      expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
      expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
    });

    it('a code of another user is refused, also when its row is copied to this user (T284)', async () => {
      const [mine, theirs] = [await givenCodes('mine'), await givenCodes('theirs')];
      const { uid } = await mfa.logInByMail(mine.user);
      expect(await mfa.verify(uid, 'recovery', theirs.codes[0])).toMatchObject(refused);
      await mfa.service.database.affected('UPDATE recovery_codes SET user_id = ? WHERE user_id = ?', [
        uid,
        theirs.user.uid,
      ]);
      expect(await mfa.verify(uid, 'recovery', theirs.codes[0])).toMatchObject(refused);
    });

    it('a code that an authenticator or a mail has sent is no recovery code, and the reverse', async () => {
      const { user, codes } = await givenCodes('kinds');
      const { uid, code } = await mfa.logInByMail(user);
      expect(await mfa.verify(uid, 'recovery', code)).toMatchObject(refused);
      expect(await mfa.verify(uid, 'email', codes[0])).toMatchObject({ body: { error_code: 'MFA_401001' } });
      expect(await mfa.verify(uid, 'totp', codes[0])).toMatchObject(refused);
    });

    it('T069 a user who is disabled, or whose password changes, between login and code gets no token', async () => {
      for (const [name, change] of [
        ['disabled', 'UPDATE users SET status = -1 WHERE uid = ?'],
        ['changed', 'UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?'],
      ] as const) {
        const { user, codes } = await givenCodes(`t069-${name}`);
        const { uid } = await mfa.logInByMail(user);
        const tokens = await mfa.tokens(user);
        await mfa.service.database.affected(change, [uid]);
        expect(await mfa.verify(uid, 'recovery', codes[0])).toMatchObject(refused);
        expect(await mfa.tokens(user)).toBe(tokens);
        expect(await mfa.service.count('recovery_codes', 'user_id = ? AND used_at IS NOT NULL', [uid])).toBe(0);
      }
    });

    it('a newer code by mail in the meantime does not refuse a recovery code', async () => {
      const { user, codes } = await givenCodes('resent');
      const { uid } = await mfa.logInByMail(user);
      mfa.service.clock.advanceSeconds(61);
      expect((await mfa.resend(uid)).status).toBe(200);
      expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
    });
  });

  describe('the budgets of the second factor', () => {
    it('T059 five wrong recovery codes end the pending login: the right one and the mailed code are refused', async () => {
      const { user, codes } = await givenCodes('t059');
      const { uid, code } = await mfa.logInByMail(user);
      for (let n = 1; n <= 5; n++)
        expect(await mfa.verify(uid, 'recovery', wrong(codes[0]!, n))).toMatchObject(refused);
      expect(await mfa.verify(uid, 'recovery', codes[0])).toMatchObject(refused);
      expect(await mfa.verify(uid, 'email', code)).toMatchObject({ body: { error_code: 'MFA_401001' } });
      expect(await mfa.events(user, 'MFA_CODE_WRONG')).toEqual(Array(5).fill({ type: 'recovery', purpose: 'login' }));
    });

    it('T061 ten wrong codes of all types over two logins block every type for 900 s, and an accepted code clears the count', async () => {
      const { user, codes } = await givenCodes('t061');
      for (let login = 0; login < 2; login++) {
        const { uid, code } = await mfa.logInByMail(user);
        for (let n = 1; n <= 3; n++) await mfa.verify(uid, 'recovery', wrong(codes[0]!, login * 3 + n));
        for (let n = 1; n <= 2; n++)
          await mfa.verify(
            uid,
            'email',
            String(Number(code) + n)
              .padStart(6, '0')
              .slice(-6),
          );
      }
      expect(await mfa.events(user, 'MFA_CODE_WRONG')).toHaveLength(10);
      expect(await mfa.events(user, 'MFA_BUDGET_EXHAUSTED')).toContainEqual(
        expect.objectContaining({ budget: 'account', blocked_seconds: 900 }),
      );
      const blocked = await mfa.logInByMail(user);
      expect(await mfa.verify(blocked.uid, 'recovery', codes[0])).toMatchObject(refused);
      expect(await mfa.verify(blocked.uid, 'email', blocked.code)).toMatchObject({
        body: { error_code: 'MFA_401001' },
      });
      mfa.service.clock.advanceSeconds(900);
      const { uid } = await mfa.logInByMail(user);
      await mfa.verify(uid, 'recovery', wrong(codes[0]!));
      expect(await failedCount(uid)).toBe(1);
      expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
      expect(await failedCount(uid)).toBe(0);
    });

    it('T058 of 20 parallel uses of one code, one gets a session, and one mail is queued', async () => {
      const { user, codes, access } = await givenCodes('t058');
      const before = await mfa.tokens(user);
      const { uid } = await mfa.logInByMail(user);
      const answers = await Promise.all(Array.from({ length: 20 }, () => mfa.verify(uid, 'recovery', codes[0])));
      expect(tally(answers)).toEqual({ success: 1, AUTH_MFA_401001: 19 });
      expect(await mfa.tokens(user)).toBe(before + 2);
      expect(await summary(access)).toMatchObject({ left: 9 });
      expect(await mfa.mails(user, 'recovery-code-used')).toHaveLength(1);
    });

    it('of 100 parallel wrong codes of all three types, five are compared in each of two logins (T282)', async () => {
      const { user, secret, access } = await mfa.givenAuthenticator('mixed');
      const codes = await make(access);
      const compared = async () => (await mfa.events(user, 'MFA_CODE_WRONG')).length;
      for (const total of [5, 10]) {
        const { uid } = await mfa.logIn('mixed');
        const ask = (n: number): Promise<Answer> =>
          n % 3 === 0
            ? mfa.verify(uid, 'totp', mfa.wrongCode(secret, n + 1))
            : mfa.verify(uid, n % 3 === 1 ? 'recovery' : 'email', wrong(codes[0]!, 1 + (n % 31)));
        const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n)));
        expect(answers.filter(({ status }) => status === 200)).toEqual([]);
        expect(await compared()).toBe(total);
      }
      const { uid } = await mfa.logIn('mixed');
      expect(await mfa.verify(uid, 'recovery', codes[0])).toMatchObject(refused);
    });
  });

  describe('malformed input', () => {
    it.each(['', '-', '123456', ' ', '0a1b2-c3d4', 'uuuuu-uuuuu', '０a1b2-c3d4e', "' OR 1=1 -", '0'.repeat(9000)])(
      'T095 the malformed code %p is refused and costs one attempt',
      async (code) => {
        const { user, codes } = await givenCodes(`t095-${Buffer.from(code).toString('hex').slice(0, 40)}`);
        const { uid } = await mfa.logInByMail(user);
        expect(await mfa.verify(uid, 'recovery', code)).toMatchObject(refused);
        expect((await mfa.row('pending_logins', user)).attempts).toBe(1);
        expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
      },
    );

    it.each([[['0a1b2-c3d4e']], [{ code: 1 }], [1234567890], [null], [true]])(
      'T096 the code %j is answered with COMMON_400001 and costs no attempt',
      async (code) => {
        const user = await mfa.givenUser(`t096-${JSON.stringify(code).length}-${typeof code}`);
        const { uid } = await mfa.logInByMail(user);
        expect(await mfa.verify(uid, 'recovery', code)).toMatchObject({ body: { error_code: 'COMMON_400001' } });
        expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
      },
    );
  });

  describe('what ends them', () => {
    it('the operator: user recovery-codes --revoke, and the reset of the second factor', async () => {
      for (const [name, event] of [
        ['revoked', 'RECOVERY_CODES_REVOKED'],
        ['reset', 'TOTP_RESET'],
      ] as const) {
        const { user, codes, access } = await givenCodes(`ends-${name}`);
        if (name === 'reset') await resetSecondFactor(mfa.service, user);
        else expect(await mfa.service.app.get(RecoveryCodes).revoke(user)).toBe(10);
        expect(await mfa.events(user, event)).toHaveLength(1);
        expect(await summary(access)).toEqual({ left: 0, created_at: null });
        const { uid } = await mfa.logInByMail(user);
        expect(await mfa.verify(uid, 'recovery', codes[0])).toMatchObject(refused);
      }
    });

    it('neither a new authenticator nor a new password', async () => {
      const { user, codes, access } = await givenCodes('kept');
      const { secret } = await mfa.newSecret(access);
      expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
      await mfa.service.database.affected(
        'UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?',
        [user.uid],
      );
      mfa.service.clock.advanceSeconds(61);
      const { uid } = await mfa.logIn('kept');
      expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
    });

    it('the loss of their data key: they do not count as left, and a key in rotation still reads them', async () => {
      const [older, newer] = [dataKey(7), dataKey(9)];
      await MfaClient.with({ DATA_ENCRYPTION_KEY: older }, async (before) => {
        const user = await before.givenUser('rotated');
        const { access } = await before.session(user);
        const made = await before.service.post('/recovery-codes', undefined, { bearer: access });
        const [code] = made.body.data.codes as string[];
        const { clock, store } = before.service;
        const left = async (keys: string, use: (later: MfaClient) => Promise<void>) => {
          const service = await TestService.start({ ...mfaSettings, DATA_ENCRYPTION_KEY: keys }, { clock, store });
          const later = new MfaClient(service);
          const { body } = await service.get('/recovery-codes', { bearer: access });
          const me = await service.get('/user/me', { bearer: access });
          expect(me.body.data.recovery_codes_left).toBe(body.data.left);
          await use(later).finally(() => service.stop({ keepStore: true }));
          return body.data.left as number;
        };
        expect(
          await left(`${newer},${older}`, async (both) => {
            const { database, app } = both.service;
            expect(await recoveryCodesOfFormerKeys(database, app.get(KeyRing))).toBe(10);
            const { uid } = await both.logInByMail(user);
            expect((await both.verify(uid, 'recovery', code)).status).toBe(200);
          }),
        ).toBe(10);
        expect(await left(newer, () => Promise.resolve())).toBe(0);
      });
    });
  });
});
