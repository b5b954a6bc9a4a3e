import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { sha256Hex } from '../../src/platform/crypto/key-ring';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { TrustedDevices } from '../../src/sessions/trusted-devices';
import type { User } from '../../src/users/user.entity';
import { SoftAuthenticator } from '../support/authenticator';
import { resetSecondFactor } from '../support/operator';
import { type Answer, password, type Request, TestService } from '../support/app';
import { MfaClient, mfaSettings } from '../support/mfa';
import { foreignId } from '../support/routes';

const day = 86_400;
const settings = { MFA_TRUSTED_DEVICE_DAYS: '30' };

describe('trusted devices', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start(settings);
  });
  afterAll(() => mfa.stop());

  const trust = async (user: User, request: Request = {}): Promise<{ token: string; access: string }> => {
    mfa.service.clock.advanceSeconds(61);
    const { uid, mfaToken } = await mfa.logIn(user.loginName);
    const code = await mfa.lastCode(user);
    const { body } = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken, trust_device: true }, request);
    return { token: body.data.device_token as string, access: body.data.access_token as string };
  };
  const given = async (name: string) => {
    const user = await mfa.givenUser(name);
    return { user, ...(await trust(user)) };
  };
  const login = (user: User, device_token: unknown, typed = password, request: Request = {}): Promise<Answer> => {
    // A login that takes the branch of the second factor sends a mail, which has a cooldown.
    mfa.service.clock.advanceSeconds(61);
    return mfa.service.login(user.loginName, typed, { device_token }, request);
  };
  const within = (user: User, device_token: unknown): Promise<Answer> =>
    mfa.service.login(user.loginName, password, { device_token });
  const needsCode = { status: 200, body: { data: { mfa_required: true, access_token: null, device_token: null } } };
  const devices = async (access: string) =>
    (await mfa.service.get('/user/devices', { bearer: access })).body.data.devices as Record<string, unknown>[];
  const reuses = (user: User) => mfa.events(user, 'TRUSTED_DEVICE_TOKEN_REUSED');

  describe('trusting', () => {
    it('answers a token of 256 bits, of which only SHA-256 hashes are stored (T284)', async () => {
      const { user, token } = await given('stored');
      expect(token).toMatch(/^[\w-]{43}$/);
      const [row] = await mfa.service.database.rows<Record<string, unknown>>(
        'SELECT * FROM trusted_devices WHERE user_id = ?',
        [user.uid],
      );
      expect(row).toMatchObject({ token_hash: sha256Hex(token), previous_hash: null });
      const stored = await mfa.service.database.rows('SELECT * FROM audit_logs');
      const texts = JSON.stringify([row, stored, mfa.service.logLines]);
      expect(texts).not.toContain(token);
      expect(texts).not.toContain(Buffer.from(token, 'base64url').subarray(0, 16).toString('base64url'));
      expect(await mfa.events(user, 'TRUSTED_DEVICE_ADDED')).toHaveLength(1);
    });

    it.each([[{}], [{ trust_device: false }], [{ trust_device: null }]])('%j trusts no device', async (more) => {
      const user = await mfa.givenUser(`not-${JSON.stringify(more).length}`);
      const { uid, code } = await mfa.logInByMail(user);
      expect((await mfa.verify(uid, 'email', code, more)).body.data.device_token).toBeNull();
      expect(await mfa.service.count('trusted_devices', 'user_id = ?', [uid])).toBe(0);
    });

    it.each([['true'], [1], [{}], [['true']]])(
      'trust_device %j is answered with COMMON_400001',
      async (trust_device) => {
        const answer = await mfa.verify(foreignId, 'email', '123456', { trust_device });
        expect(answer).toMatchObject({
          status: 400,
          body: { data: { fields: { trust_device: [expect.any(String)] } } },
        });
      },
    );

    it('of 101 devices the one that was not used for the longest time has ended, and the audit trail tells why', async () => {
      const { user } = await given('many');
      const { database, clock } = mfa.service;
      const [oldest] = await database.rows<{ id: string }>('SELECT id FROM trusted_devices WHERE user_id = ?', [
        user.uid,
      ]);
      clock.advanceSeconds(1);
      const others: string[] = Array.from({ length: 99 }, () => randomUUID());
      for (const id of others) {
        await database.affected(
          `INSERT INTO trusted_devices (id, user_id, series_hash, token_hash, credential_version, ip, user_agent,
           last_used_at, expires, created_at) SELECT ?, user_id, ?, token_hash, credential_version, ip, user_agent, ?, expires, ?
           FROM trusted_devices WHERE id = ?`,
          [id, id, clock.now(), clock.now(), oldest!.id],
        );
      }
      const { access } = await trust(user);
      const shown = (await devices(access)).map(({ id }) => id as string);
      expect(shown).toHaveLength(100);
      const newest = shown.find((id) => !others.includes(id));
      expect(await mfa.events(user, 'TRUSTED_DEVICE_REMOVED')).toEqual([{ device: oldest!.id, by: newest }]);
    });

    it('a wrong code trusts no device', async () => {
      const user = await mfa.givenUser('wrong-code');
      const { uid, code } = await mfa.logInByMail(user);
      const other = code === '000000' ? '000001' : '000000';
      expect((await mfa.verify(uid, 'email', other, { trust_device: true })).status).toBe(401);
      expect(await mfa.service.count('trusted_devices', 'user_id = ?', [uid])).toBe(0);
    });

    it('codes of an authenticator and recovery codes trust a device as well', async () => {
      const { user, secret, access } = await mfa.givenAuthenticator('all-types');
      const { codes } = (await mfa.service.post('/recovery-codes', undefined, { bearer: access })).body.data;
      for (const [type, code] of [
        ['totp', mfa.code(secret)],
        ['recovery', codes[0]],
      ]) {
        const { uid } = await mfa.logIn('all-types');
        const answer = await mfa.verify(uid, type, code, { trust_device: true });
        expect((await within(user, answer.body.data.device_token)).body.data.access_token).toEqual(expect.any(String));
      }
    });
  });

  describe('a login with the token', () => {
    it('needs no code; its session says so, and the answer replaces the token', async () => {
      const { user, token } = await given('used');
      const { status, body } = await login(user, token, password, {
        ip: '203.0.113.9',
        headers: { 'user-agent': 'Second' },
      });
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ mfa_required: false, mfa_token: null, user_info: { email: user.email } });
      expect(body.data.device_token).toMatch(/^[\w-]{43}$/);
      expect(body.data.device_token).not.toBe(token);
      expect(decodeJwt(body.data.access_token as string).amr).toEqual(['pwd', 'device']);
      expect(await devices(body.data.access_token as string)).toMatchObject([
        { ip: '203.0.113.9', user_agent: 'Second', last_used_at: mfa.now.toISOString() },
      ]);
      const [entry] = await mfa.service.database.rows<{ mfa: string; outcome: string }>(
        'SELECT mfa, outcome FROM login_logs WHERE user_id = ? ORDER BY id DESC LIMIT 1',
        [user.uid],
      );
      expect(entry).toEqual({ mfa: 'device', outcome: 'success' });
      const again = await login(user, body.data.device_token);
      expect(again.body.data.access_token).toEqual(expect.any(String));
    });

    it('still needs the right password, and a wrong one does not replace the token (T285)', async () => {
      const { user, token } = await given('wrong-password');
      expect((await login(user, token, 'wrong')).body.error_code).toBe('LOGIN_401001');
      expect((await login(user, token)).body.data.access_token).toEqual(expect.any(String));
    });

    it('a replaced token works for ten more seconds, and answers the same successor', async () => {
      const { user, token } = await given('grace');
      const first = await login(user, token);
      mfa.service.clock.advanceSeconds(10);
      const second = await within(user, token);
      expect(second.body.data.access_token).toEqual(expect.any(String));
      expect(second.body.data.device_token).toBe(first.body.data.device_token);
      expect(await reuses(user)).toEqual([]);
      expect((await login(user, first.body.data.device_token)).body.data.mfa_required).toBe(false);
    });

    it('a stolen token that is replayed after its rotation and its grace ends the device, which is audited (T286)', async () => {
      const { user, token, access } = await given('stolen');
      const next = (await login(user, token)).body.data.device_token as string;
      mfa.service.clock.advanceSeconds(11);
      expect(await within(user, token)).toMatchObject(needsCode);
      expect(await reuses(user)).toEqual([{ device: expect.any(String) }]);
      expect(await login(user, next)).toMatchObject(needsCode);
      expect(await devices(access)).toEqual([]);
      const logged = JSON.stringify(mfa.service.logLines.filter(({ msg }) => String(msg).includes('trusted device')));
      expect(logged).toContain(user.uid);
      for (const secret of [token, next]) expect(logged).not.toContain(secret);
      // The device has ended: another replay changes nothing and is not audited again.
      expect(await login(user, token)).toMatchObject(needsCode);
      expect(await reuses(user)).toHaveLength(1);
    });

    it('a token that was replaced twice ends the device, also within ten seconds', async () => {
      const { user, token } = await given('two-generations');
      const second = (await login(user, token)).body.data.device_token as string;
      const third = (await within(user, second)).body.data.device_token as string;
      mfa.service.clock.advanceSeconds(5);
      expect((await within(user, token)).body.data.mfa_required).toBe(true);
      expect(await reuses(user)).toHaveLength(1);
      expect((await login(user, third)).body.data.mfa_required).toBe(true);
    });

    it('a clock that is set back does not make a device valid again that a replay has ended', async () => {
      const { user, token } = await given('clock');
      await login(user, token);
      mfa.service.clock.advanceSeconds(11);
      await within(user, token);
      mfa.service.clock.advanceSeconds(-11);
      // The branch of the second factor, whose mail has a cooldown.
      expect((await within(user, token)).body.error_code).toBe('MFA_429001');
    });

    it.each([
      ['junk', () => 'junk'],
      ['an empty text', () => ''],
      ['a random token', () => Buffer.alloc(32, 7).toString('base64url')],
      ['the token with padding', (token: string) => `${token}=`],
      ['the token with a space', (token: string) => `${token} `],
      ['two tokens', (token: string) => token + token],
      ['a long text', () => 'A'.repeat(9000)],
      ['null', () => null],
    ])('%s as device_token is no error: the login needs a code, and the device stays', async (what, tokenOf) => {
      const { user, token } = await given(`wrong-${what.replaceAll(' ', '-')}`);
      expect(await login(user, tokenOf(token))).toMatchObject(needsCode);
      expect(await reuses(user)).toEqual([]);
      expect((await login(user, token)).body.data.mfa_required).toBe(false);
    });

    it('another spelling of the last character is not the token', async () => {
      const { user, token } = await given('spelling');
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const other = token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) ^ 1]!;
      expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(token, 'base64url'));
      expect(await login(user, other)).toMatchObject(needsCode);
      expect((await login(user, token)).body.data.mfa_required).toBe(false);
    });

    it.each([[1], [['x']], [{}], [true]])('device_token %j is answered with COMMON_400001', async (device_token) => {
      const user = await mfa.givenUser(`type-${Buffer.from(JSON.stringify(device_token)).toString('hex')}`);
      expect(await login(user, device_token)).toMatchObject({
        status: 400,
        body: { data: { fields: { device_token: [expect.any(String)] } } },
      });
    });

    it('never works for another user, and a try neither ends nor uses the device (T285)', async () => {
      const { user, token } = await given('owner');
      const other = await mfa.givenUser('other');
      expect(await login(other, token)).toMatchObject(needsCode);
      expect(await mfa.service.count('trusted_devices', 'user_id = ?', [other.uid])).toBe(0);
      expect((await login(user, token)).body.data.mfa_required).toBe(false);
    });

    it('a due password change still comes first', async () => {
      const { user, token } = await given('expired-password');
      await mfa.service.database.affected('UPDATE users SET must_change_password = 1 WHERE uid = ?', [user.uid]);
      expect((await login(user, token)).body.data).toMatchObject({ change_password: true, access_token: null });
    });
  });

  describe('what ends a device', () => {
    const disabled = { status: 401, body: { error_code: 'LOGIN_401011' } };

    it('its time: MFA_TRUSTED_DEVICE_DAYS after the code, however often it is used', async () => {
      const { user, token } = await given('time');
      mfa.service.clock.advanceSeconds(29 * day);
      const next = (await within(user, token)).body.data.device_token as string;
      expect(next).toEqual(expect.any(String));
      mfa.service.clock.advanceSeconds(day);
      expect(await within(user, next)).toMatchObject(needsCode);
      expect(await reuses(user)).toEqual([]);
    });

    const newPassword = 'Another-Horse-8';
    const chosen = { password: newPassword, confirm_password: newPassword };
    const byRequest = (req_uid: string) => mfa.service.post('/user/change-pwd-by-req', { req_uid, ...chosen });

    it.each<[string, (user: User, access: string) => Promise<Answer>]>([
      [
        'own',
        (_user, bearer) =>
          mfa.service.post('/user/change-password', { current_password: password, ...chosen }, { bearer }),
      ],
      [
        'forgotten',
        async (user) => {
          await mfa.service.post('/forget-password', { email: user.email });
          const mail = (await mfa.mails(user, 'reset-link')).at(-1);
          if (mail?.kind !== 'reset-link') throw new Error('no link was mailed');
          return byRequest(new URL(mail.link).searchParams.get('uid')!);
        },
      ],
      [
        'forced',
        async (user) => {
          await mfa.service.database.affected('UPDATE users SET must_change_password = 1 WHERE uid = ?', [user.uid]);
          return byRequest((await login(user, undefined)).body.data.change_uid as string);
        },
      ],
    ])('a password change (%s), also of the device on which it was made (T278)', async (what, change) => {
      const { user, token, access } = await given(`password-${what}`);
      const changed = await change(user, access);
      expect(changed).toMatchObject({ status: 200 });
      expect(await login(user, token, newPassword)).toMatchObject(needsCode);
      expect(await mfa.service.count('trusted_devices', 'user_id = ? AND ended_at IS NULL', [user.uid])).toBe(0);
      const bearer = changed.body.data.access_token as string | undefined;
      if (bearer !== undefined) expect(await devices(bearer)).toEqual([]);
    });

    it('a new credential version alone, whatever the rows say', async () => {
      const { user, token } = await given('version');
      await mfa.service.database.affected(
        'UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?',
        [user.uid],
      );
      expect(await login(user, token)).toMatchObject(needsCode);
    });

    it('a disabling: neither the disabled user nor the user who is enabled again gets in without a code (T287)', async () => {
      const { user, token } = await given('disabled');
      await mfa.service.database.transaction(async (tx) => {
        await tx.affected('UPDATE users SET status = -1 WHERE uid = ?', [user.uid]);
        await mfa.service.app.get(TokenRevoker).revokeAll(tx, user.uid);
      });
      expect(await login(user, token)).toMatchObject(disabled);
      await mfa.service.database.affected('UPDATE users SET status = 1 WHERE uid = ?', [user.uid]);
      expect(await login(user, token)).toMatchObject(needsCode);
    });

    it('a status that was set directly in the table refuses the login and does not replace the token', async () => {
      const { user, token } = await given('status');
      await mfa.service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [user.uid]);
      expect(await login(user, token)).toMatchObject(disabled);
      expect(await mfa.service.count('trusted_devices', 'user_id = ? AND previous_hash IS NULL', [user.uid])).toBe(1);
    });

    it('a new authenticator: the device that confirms it can be trusted at once, the others not', async () => {
      const { user, token, access } = await given('new-factor');
      const { secret } = await mfa.newSecret(access);
      const { body } = await mfa.verify(user.uid, 'totp', mfa.code(secret), { trust_device: true }, { bearer: access });
      expect(await login(user, token)).toMatchObject(needsCode);
      expect((await login(user, body.data.device_token)).body.data.mfa_required).toBe(false);
    });

    it('a reset of the second factor, and user devices --revoke (T287)', async () => {
      const [one, other] = [await given('reset'), await given('revoked')];
      await resetSecondFactor(mfa.service, one.user);
      expect(await mfa.service.app.get(TrustedDevices).revokeAll(other.user.uid)).toBe(1);
      for (const { user, token } of [one, other]) expect(await login(user, token)).toMatchObject(needsCode);
      expect(await mfa.events(one.user, 'TOTP_RESET')).toEqual([{ recovery_codes: 0, trusted_devices: 1 }]);
      expect(await mfa.events(other.user, 'TRUSTED_DEVICES_REVOKED')).toEqual([{ revoked: 1 }]);
    });
  });

  describe('GET and DELETE /user/devices', () => {
    it('list the devices of the caller, and end one of them', async () => {
      const { user, token, access } = await given('lists');
      const second = await trust(user, { ip: '203.0.113.5', headers: { 'user-agent': 'Phone' } });
      const [newest, oldest] = await devices(access);
      expect(newest).toEqual({
        id: expect.any(String),
        created_at: mfa.now.toISOString(),
        last_used_at: mfa.now.toISOString(),
        ip: '203.0.113.5',
        user_agent: 'Phone',
      });
      expect(await devices(access)).toHaveLength(2);
      const remove = (id: unknown) =>
        mfa.service.send('DELETE', `/user/devices/${id as string}`, undefined, { bearer: access });
      // MySQL ignores a space at the end of a text that it compares.
      expect((await remove(`${oldest!.id as string}%20`)).status).toBe(404);
      expect(await remove(oldest!.id)).toMatchObject({ status: 200, body: { data: { result: true } } });
      expect(await remove(oldest!.id)).toMatchObject({ status: 404, body: { error_code: 'USER_404001' } });
      expect(await mfa.events(user, 'TRUSTED_DEVICE_REMOVED')).toEqual([{ device: oldest!.id }]);
      expect(await login(user, token)).toMatchObject(needsCode);
      expect((await login(user, second.token)).body.data.mfa_required).toBe(false);
    });

    it('nobody sees or ends a device of another user, whatever the id (T280)', async () => {
      const { user, token, access } = await given('theirs');
      const stranger = await given('stranger');
      const [device] = await devices(access);
      expect(JSON.stringify(await devices(stranger.access))).not.toContain(device!.id);
      const ids = [device!.id, foreignId, 'x', '%20', `${device!.id as string}%20`, "'%20OR%20''='", '..%2f'];
      for (const id of ids) {
        const answer = await mfa.service.send('DELETE', `/user/devices/${id as string}`, undefined, {
          bearer: stranger.access,
        });
        expect(answer).toMatchObject({ status: 404, body: { error_code: 'USER_404001' } });
      }
      expect((await login(user, token)).body.data.mfa_required).toBe(false);
    });

    it('a session of a trusted device is young, because its password was checked', async () => {
      const { user, token } = await given('young');
      const access = (await login(user, token)).body.data.access_token as string;
      expect((await mfa.service.post('/recovery-codes', undefined, { bearer: access })).status).toBe(200);
    });
  });

  describe('a copied token and the password, where the account has a second factor (T288)', () => {
    const fresh = { status: 403, body: { error_code: 'AUTH_403002' } };
    const origin = 'http://portal.test';
    const post = (path: string, body: unknown, bearer: string) => mfa.service.post(path, body, { bearer });
    const addPasskey = async (bearer: string) => {
      const response = new SoftAuthenticator(origin).create((await post('/passkeys/options', {}, bearer)).body.data);
      return { name: 'Phone', response };
    };
    /** A user whose device is trusted by a code of the second factor, and a session of that device. */
    const givenDevice = async (name: string, factor: 'totp' | 'passkey') => {
      const { user, access, token } = await given(name);
      if (factor === 'passkey') {
        const added = await post('/passkeys', await addPasskey(access), access);
        expect(added.status).toBe(200);
        const device = (await login(user, token)).body.data.access_token as string;
        return { user, device, passkey: added.body.data.id as string };
      }
      const { secret } = await mfa.newSecret(access);
      const more = { trust_device: true };
      const confirmed = await mfa.verify(user.uid, 'totp', mfa.code(secret), more, { bearer: access });
      const { body } = await login(user, confirmed.body.data.device_token);
      return { user, device: body.data.access_token as string, secret };
    };

    it('make no recovery codes and no passkey, and replace the authenticator with its code only', async () => {
      const { user, device, secret } = await givenDevice('has-totp', 'totp');
      expect(decodeJwt(device).amr).toEqual(['pwd', 'device']);
      expect(await post('/recovery-codes', undefined, device)).toMatchObject(fresh);
      expect(await post('/passkeys/options', {}, device)).toMatchObject(fresh);
      expect(await post('/totp-secret', undefined, device)).toMatchObject({ body: { error_code: 'AUTH_MFA_401001' } });
      expect(await mfa.service.count('recovery_codes', 'user_id = ?', [user.uid])).toBe(0);
      // The owner, who has the authenticator, signs in again without the token.
      const { uid, mfaToken } = await mfa.logIn(user.loginName);
      const owner = await mfa.verify(uid, 'totp', mfa.code(secret!), { mfa_token: mfaToken });
      expect((await post('/recovery-codes', undefined, owner.body.data.access_token as string)).status).toBe(200);
    });

    it('make no recovery codes and no authenticator beside a passkey, and do not remove it first', async () => {
      const { device, passkey } = await givenDevice('has-passkey', 'passkey');
      expect(await post('/recovery-codes', undefined, device)).toMatchObject(fresh);
      expect(await post('/passkeys/options', {}, device)).toMatchObject(fresh);
      expect(await post('/totp-secret', undefined, device)).toMatchObject(fresh);
      const removed = await mfa.service.send('DELETE', `/passkeys/${passkey}`, undefined, { bearer: device });
      expect(removed).toMatchObject(fresh);
    });

    it('finish no passkey and no authenticator that they began before the owner added a passkey', async () => {
      const { user, token, access } = await given('was-first');
      const thief = (await login(user, token)).body.data.access_token as string;
      const prepared = await addPasskey(thief);
      const { secret } = await mfa.newSecret(thief);
      expect((await post('/passkeys', await addPasskey(access), access)).status).toBe(200);
      expect(await post('/passkeys', prepared, thief)).toMatchObject(fresh);
      const confirmed = await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: thief });
      expect(confirmed).toMatchObject({ status: 401, body: { error_code: 'AUTH_MFA_401001' } });
      expect(await mfa.service.userRow(user.uid)).toMatchObject({ topt_secret: null });
    });
  });

  describe('the setting', () => {
    const replica = async (days: string, use: (other: TestService) => Promise<void>) => {
      const { clock, store } = mfa.service;
      const other = await TestService.start({ ...mfaSettings, MFA_TRUSTED_DEVICE_DAYS: days }, { clock, store });
      await use(other).finally(() => other.stop({ keepStore: true }));
    };

    it('0, the default, trusts no device, and ends nothing: the tokens are ignored', () =>
      MfaClient.with({ MFA_TRUSTED_DEVICE_DAYS: '' }, async (off) => {
        const user = await off.givenUser('off');
        const { uid, code } = await off.logInByMail(user);
        expect((await off.verify(uid, 'email', code, { trust_device: true })).body.data.device_token).toBeNull();
        expect((await off.service.get('/capabilities')).body.data.trusted_device_days).toBe(0);
      }));

    it('is shown by /capabilities', async () => {
      expect((await mfa.service.get('/capabilities')).body.data.trusted_device_days).toBe(30);
    });

    it('a lower value also applies to devices that are trusted already, and 0 ignores their tokens', async () => {
      const { user, token } = await given('lower');
      mfa.service.clock.advanceSeconds(2 * day);
      for (const days of ['1', '0']) {
        await replica(days, async (other) => {
          mfa.service.clock.advanceSeconds(61);
          const answer = await other.login(user.loginName, password, { device_token: token });
          expect(answer).toMatchObject(needsCode);
        });
      }
      expect((await login(user, token)).body.data.mfa_required).toBe(false);
    });
  });
});
