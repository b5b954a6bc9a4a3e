import { decodeJwt } from 'jose';
import type { User } from '../../src/users/user.entity';
import { ExternalSite } from '../support/external-sign-in';
import type { Person } from '../support/identity-provider';
import { MfaClient, mfaSettings, pairOf, wrongCode } from '../support/mfa';
import { ProofMaker } from '../support/proof';

const person = (name: string, more: Partial<Person> = {}): Person => ({
  sub: `sub-of-${name}`,
  claims: { preferred_username: name, email: `${name}@acme.example`, name },
  ...more,
});
const bodyOf = (access: string) => decodeJwt<{ amr: string[]; auth_time: number; sid: string; cnf?: object }>(access);
const hourAgo = () => new Date(Date.now() - 3_600_000);
const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

/** Where this service asks for its own second factor after a sign-in at a provider (docs/spec/extensions.md#k). */
describe('the second factor after a sign-in at an identity provider', () => {
  let site: ExternalSite;
  let mfa: MfaClient;
  beforeAll(async () => {
    site = await ExternalSite.start(
      { jit: true, domains: ['acme.example'], trustMfa: true },
      { ...mfaSettings, MFA_TRUSTED_DEVICE_DAYS: '30', TOKEN_BINDING: 'optional' },
    );
    mfa = new MfaClient(site.service);
  });
  afterAll(() => site?.stop());

  const userNamed = (name: string) => ({ email: `${name}@acme.example` }) as User;
  const externalOf = (sid: string) => site.service.count('external_sessions', 'sid = ?', [sid]);
  async function pending(name: string, more: Partial<Person> = {}) {
    const { status, body } = await site.browser(person(name, more)).signIn();
    expect({ status, mfa: body.data.mfa_required, access: body.data.access_token }).toEqual({
      ...{ status: 200, mfa: true, access: null },
    });
    const code = await mfa.lastCode(userNamed(name));
    return { uid: body.data.user_info.uid as string, mfaToken: body.data.mfa_token as string, code };
  }

  it('is the code of this service, and the session still belongs to the one of the provider', async () => {
    const { uid, mfaToken, code } = await pending('ann', { authTime: hourAgo() });
    const { access } = pairOf(await mfa.verify(uid, 'email', code, { mfa_token: mfaToken }));
    const { amr, sid, auth_time } = bodyOf(access);
    expect(amr).toEqual(['ext', 'otp']);
    // The code is a check of this moment.
    expect(Math.abs(auth_time - seconds(new Date()))).toBeLessThan(300);
    expect(await externalOf(sid)).toBe(1);
  });

  it('a right code opens no session after the provider was disabled. It is logged, and a budget that it uses up is audited', async () => {
    const { uid, mfaToken, code } = await pending('dina');
    const verify = (typed: string) => mfa.verify(uid, 'email', typed, { mfa_token: mfaToken });
    for (let n = 0; n < 4; n++) {
      expect((await verify(wrongCode(code))).body).toMatchObject({ error_code: 'MFA_401001' });
    }
    await site.change({ enabled: false });
    expect(await verify(code)).toMatchObject({ status: 401, body: { error_code: 'LOGIN_401013' } });
    await site.change({ enabled: true });
    expect(await site.service.count('login_tokens', 'user_identity = ?', [uid])).toBe(0);
    const logs = 'SELECT outcome FROM login_logs WHERE user_id = ? ORDER BY id DESC';
    expect((await site.service.database.rows(logs, [uid]))[0]).toEqual({ outcome: 'LOGIN_401013' });
    const audits = 'SELECT event FROM audit_logs WHERE user_id = ? ORDER BY id DESC';
    expect((await site.service.database.rows(audits, [uid])).slice(0, 2)).toEqual([
      { event: 'MFA_BUDGET_EXHAUSTED' },
      { event: 'MFA_CODE_WRONG' },
    ]);
  });

  it('is left out when the provider has proven it, and auth_time is that of the provider', async () => {
    const asked = hourAgo();
    const { body } = await site.browser(person('bea', { amr: ['mfa'], authTime: asked })).signIn();
    const { amr, auth_time } = bodyOf(body.data.access_token as string);
    expect({ amr, auth_time }).toEqual({ amr: ['ext', 'mfa'], auth_time: seconds(asked) });
  });

  it('auth_time is never in the future', async () => {
    const ahead = new Date(Date.now() + 3_600_000);
    const { body } = await site.browser(person('cara', { amr: ['mfa'], authTime: ahead })).signIn();
    expect(bodyOf(body.data.access_token as string).auth_time).toBeLessThanOrEqual(seconds(new Date()));
  });

  it('a trusted device leaves the code out, and the session belongs to the one of the provider', async () => {
    const { uid, mfaToken, code } = await pending('dan');
    const verified = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken, trust_device: true });
    const device_token = verified.body.data.device_token as string;
    const asked = hourAgo();
    const { body } = await site.browser(person('dan', { authTime: asked })).signIn({ device_token });
    const { amr, sid, auth_time } = bodyOf(body.data.access_token as string);
    expect({ amr, auth_time }).toEqual({ amr: ['ext', 'device'], auth_time: seconds(asked) });
    expect(await externalOf(sid)).toBe(1);
  });

  it('the session of a new authenticator belongs to the one of the provider as well', async () => {
    const { uid, mfaToken, code } = await pending('eve');
    const { access } = pairOf(await mfa.verify(uid, 'email', code, { mfa_token: mfaToken }));
    const { secret } = await mfa.newSecret(access);
    const beside = pairOf(await mfa.verify(uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    expect(bodyOf(beside.access).sid).not.toBe(bodyOf(access).sid);
    expect(await externalOf(bodyOf(beside.access).sid)).toBe(1);
  });

  it('a proof at /login/external binds the tokens, and the code of /otp-verify needs the same key', async () => {
    const maker = ProofMaker.make(site.service.clock);
    const proven = (path: string, by = maker) => ({ headers: { dpop: by.proof('POST', path) } });
    const strong = await site.browser(person('fred', { amr: ['mfa'] })).signIn({}, proven('/login/external'));
    expect(bodyOf(strong.body.data.access_token as string).cnf).toEqual({ jkt: maker.thumbprint });
    const { body } = await site.browser(person('gil')).signIn({}, proven('/login/external'));
    const code = await mfa.lastCode(userNamed('gil'));
    const claim = { mfa_token: body.data.mfa_token as string };
    const { uid } = body.data.user_info;
    const other = ProofMaker.make(site.service.clock);
    const stolen = await mfa.verify(uid, 'email', code, claim, proven('/otp-verify', other));
    expect(stolen.body.error_code).toBe('AUTH_401011');
    const { access } = pairOf(await mfa.verify(uid, 'email', code, claim, proven('/otp-verify')));
    expect(bodyOf(access)).toMatchObject({ amr: ['ext', 'otp'], cnf: { jkt: maker.thumbprint } });
  });

  it('a confirmation by the provider asks for the code too, unless the provider has proven it', async () => {
    const { body } = await site.browser(person('hal', { amr: ['mfa'] })).signIn();
    const access = body.data.access_token as string;
    const confirm = async (more: Partial<Person>) => {
      const browser = site.browser(person('hal', more));
      const { external } = await browser.come({ fresh: true }, { bearer: access });
      return site.service.post('/user/reauthenticate', { external }, browser.with({ bearer: access }));
    };
    const asked = await confirm({});
    expect(asked.body.data).toMatchObject({ access_token: null, mfa_required: true });
    const code = await mfa.lastCode(userNamed('hal'));
    const claim = { mfa_token: asked.body.data.mfa_token as string };
    const byCode = pairOf(await mfa.verify(body.data.user_info.uid, 'email', code, claim));
    expect(bodyOf(byCode.access)).toMatchObject({ amr: ['ext', 'otp', 'mfa'], sid: bodyOf(access).sid });
  });

  it('a right code confirms no session after the provider was disabled', async () => {
    const { body } = await site.browser(person('hugo', { amr: ['mfa'] })).signIn();
    const access = body.data.access_token as string;
    const { uid } = body.data.user_info as { uid: string };
    const browser = site.browser(person('hugo'));
    const { external } = await browser.come({ fresh: true }, { bearer: access });
    const asked = await site.service.post('/user/reauthenticate', { external }, browser.with({ bearer: access }));
    const code = await mfa.lastCode(userNamed('hugo'));
    await site.change({ enabled: false });
    const claim = { mfa_token: asked.body.data.mfa_token as string };
    const refused = await mfa.verify(uid, 'email', code, claim);
    await site.change({ enabled: true });
    expect(refused).toMatchObject({ status: 401, body: { error_code: 'LOGIN_401013' } });
    // A disabled provider ends no session.
    expect((await site.service.get('/user/me', { bearer: access })).status).toBe(200);
    expect(await site.service.count('audit_logs', "event = 'SESSION_CONFIRMED' AND user_id = ?", [uid])).toBe(0);
  });

  it('the claims do not say where the code is mailed: the address follows after the code', async () => {
    const { body } = await site.browser(person('iris', { amr: ['mfa'] })).signIn();
    const { uid } = body.data.user_info;
    const thief = person('iris', { claims: { preferred_username: 'iris', email: 'thief@acme.example', name: 'iris' } });
    const emailOf = () => site.service.database.rows('SELECT email FROM users WHERE uid = ?', [uid as string]);
    const browser = site.browser(thief);
    const { external } = await browser.come({ fresh: true }, { bearer: body.data.access_token as string });
    const confirmed = await site.service.post(
      '/user/reauthenticate',
      { external },
      browser.with({ bearer: body.data.access_token as string }),
    );
    expect(confirmed.body.data).toMatchObject({ mfa_required: true });
    expect(await mfa.mails(userNamed('iris'))).toHaveLength(1);
    await site.service.database.affected('DELETE FROM cooldowns WHERE subject = ?', [uid as string]);
    const asked = await site.browser(thief).signIn();
    expect(asked.body.data).toMatchObject({ mfa_required: true });
    expect(await mfa.mails(userNamed('iris'))).toHaveLength(2);
    expect(await mfa.mails(userNamed('thief'))).toEqual([]);
    expect(await emailOf()).toEqual([{ email: 'iris@acme.example' }]);
    const claim = { mfa_token: asked.body.data.mfa_token as string };
    pairOf(await mfa.verify(uid, 'email', await mfa.lastCode(userNamed('iris')), claim));
    expect(await emailOf()).toEqual([{ email: 'thief@acme.example' }]);
  });

  it('a code that was mailed to the former address is worth nothing once the account has followed to another one', async () => {
    const { uid, mfaToken, code } = await pending('jo');
    const claims = { preferred_username: 'jo', email: 'jo2@acme.example', name: 'jo' };
    const strong = await site.browser(person('jo', { amr: ['mfa'], claims })).signIn();
    expect(strong.body.data.user_info.email).toBe('jo2@acme.example');
    const answer = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken });
    expect(answer).toMatchObject({ status: 401, body: { error_code: 'MFA_401001' } });
    expect(await site.service.userRow(uid)).toMatchObject({ email: 'jo2@acme.example' });
  });
});
