import { openMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { SystemRandom } from '../../src/shared/random';
import { type Answer, tally } from '../support/app';
import { authenticatorCode, mfaSettings, wrongCode } from '../support/mfa';
import { addressOf, codeMails, Replicas } from '../support/replicas';
import { captchaToken, password, testSettings } from '../support/settings';

const keys = new KeyRing({ dataKeys: [Buffer.from(testSettings.DATA_ENCRYPTION_KEY, 'base64')] }, new SystemRandom());
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The requests go to two processes in turn, so only the database can keep these guarantees. */
describe('recovery codes and trusted devices over two processes on MariaDB', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await Replicas.start({ ...mfaSettings, MFA_TRUSTED_DEVICE_DAYS: '30' });
  });
  afterAll(() => replicas.stop());

  const burst = (count: number, run: (n: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const number = async (statement: string, values: string[]) => Number((await replicas.rows(statement, values))[0]?.n);
  const audited = (uid: string, event: string) =>
    number('SELECT COUNT(*) AS n FROM audit_logs WHERE user_id = ? AND event = ?', [uid, event]);
  const tokens = (uid: string) => number('SELECT COUNT(*) AS n FROM login_tokens WHERE user_identity = ?', [uid]);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  const verify = (uid: string, type: string, code: string, n = 0, more = {}, headers = {}): Promise<Answer> =>
    replicas.post('/otp-verify', { uid, type, code, ...more }, n, headers);
  const logIn = (name: string, device_token?: string, n = 0, typed = password): Promise<Answer> =>
    replicas.post('/login', { username: name, password: typed, captcha_token: captchaToken, device_token }, n);
  /** Ends the cooldown of the mail, logs in, and returns the mailed code. */
  const mailedCode = async (name: string, uid: string, typed = password): Promise<string> => {
    await replicas.rows("UPDATE cooldowns SET until = '2000-01-01' WHERE subject = ? AND kind = 'otp'", [uid]);
    expect((await logIn(name, undefined, 0, typed)).body.data.mfa_required).toBe(true);
    const rows = await replicas.rows(codeMails);
    const codes = rows.flatMap(({ payload }) => {
      const mail = openMail(keys, payload as string);
      return mail.kind === 'otp' && mail.to === addressOf(name) ? [mail.code] : [];
    });
    return codes.at(-1) ?? '';
  };

  const given = async (name: string) => {
    const uid = await replicas.givenUser(name);
    const answer = await verify(uid, 'email', await mailedCode(name, uid), 0, { trust_device: true });
    const { access_token, device_token } = answer.body.data as { access_token: string; device_token: string };
    return { uid, access: access_token, device: device_token };
  };
  const makeCodes = async (access: string): Promise<string[]> =>
    (await replicas.post('/recovery-codes', {}, 0, bearer(access))).body.data.codes as string[];

  it('T058 of 20 parallel uses of one recovery code, one gets a session', async () => {
    const { uid, access } = await given('uses');
    const [code] = await makeCodes(access);
    await mailedCode('uses', uid);
    const before = await tokens(uid);
    const answers = await burst(20, (n) => verify(uid, 'recovery', code!, n));
    expect(tally(answers)).toEqual({ success: 1, AUTH_MFA_401001: 19 });
    expect(await tokens(uid)).toBe(before + 2);
    expect((await replicas.get('/recovery-codes', 1, bearer(access))).body.data.left).toBe(9);
    expect(await audited(uid, 'RECOVERY_CODE_USED')).toBe(1);
  });

  it('T282 T061 of 100 parallel wrong codes of all types in each of two logins, ten are compared, and then every code is refused', async () => {
    const { uid, access } = await given('guesses');
    const codes = await makeCodes(access);
    const secret = (await replicas.post('/totp-secret', {}, 0, bearer(access))).body.data.secret as string;
    const now = authenticatorCode(secret, new Date());
    expect((await verify(uid, 'totp', now, 1, {}, bearer(access))).status).toBe(200);
    const wrong = (code: string, n: number) =>
      code.slice(0, -1) + alphabet[(alphabet.indexOf(code.at(-1)!) + 1 + (n % 31)) % alphabet.length]!;
    const good = new Set(
      Array.from({ length: 20 }, (_, n) => n - 2).map((steps) => authenticatorCode(secret, new Date(), steps)),
    );
    const sixDigits = (n: number) =>
      [1, 2, 3, 4, 5, 6].map((m) => wrongCode('500000', n * 7 + m)).find((c) => !good.has(c))!;
    for (let login = 0; login < 2; login++) {
      expect((await logIn('guesses')).body.data.mfa_type).toBe('totp');
      const answers = await burst(100, (n) => {
        if (n % 3 === 0) return verify(uid, 'totp', sixDigits(n), n);
        return n % 3 === 1 ? verify(uid, 'recovery', wrong(codes[0]!, n), n) : verify(uid, 'email', sixDigits(n), n);
      });
      expect(answers.filter(({ status }) => status !== 401)).toEqual([]);
    }
    expect(await audited(uid, 'MFA_CODE_WRONG')).toBe(10);
    await logIn('guesses');
    expect(tally([await verify(uid, 'recovery', codes[0]!)])).toEqual({ AUTH_MFA_401001: 1 });
    expect((await replicas.get('/recovery-codes', 0, bearer(access))).body.data.left).toBe(10);
  });

  it('20 parallel logins with one device_token get the same successor, which then works', async () => {
    const { device } = await given('parallel');
    const started = performance.now();
    const answers = await burst(20, (n) => logIn('parallel', device, n));
    const successors = answers.flatMap(({ body }) => (body.data?.device_token as string | null) ?? []);
    expect(new Set(successors).size).toBe(1);
    // On a machine that took longer than the grace, a late login was a replay. It then ended the device.
    if (performance.now() - started > 9_000) return;
    expect(successors).toHaveLength(20);
    expect(answers.filter(({ body }) => body.data.access_token === null)).toEqual([]);
    expect((await logIn('parallel', successors[0], 1)).body.data.access_token).toEqual(expect.any(String));
  });

  it('of 20 parallel replays after the grace, none gets a session, and one ends the device and is audited', async () => {
    const { uid, access, device } = await given('device');
    const next = (await logIn('device', device)).body.data.device_token as string;

    await replicas.rows(
      'UPDATE trusted_devices SET replaced_at = DATE_SUB(replaced_at, INTERVAL 11 SECOND) WHERE user_id = ?',
      [uid],
    );
    const before = await tokens(uid);
    await replicas.rows("UPDATE cooldowns SET until = '2000-01-01' WHERE subject = ? AND kind = 'otp'", [uid]);
    const replays = await burst(20, (n) => logIn('device', device, n));
    // One of them sends the mail of the second factor.
    expect(tally(replays)).toEqual({ success: 1, MFA_429001: 19 });
    expect(replays.find(({ status }) => status === 200)?.body.data.mfa_required).toBe(true);
    expect(await tokens(uid)).toBe(before);
    expect(await audited(uid, 'TRUSTED_DEVICE_TOKEN_REUSED')).toBe(1);
    expect((await logIn('device', next, 1)).body.error_code).toBe('MFA_429001');
    expect((await replicas.get('/user/devices', 1, bearer(access))).body.data.devices).toEqual([]);
  });

  describe('the command line', () => {
    it('user recovery-codes prints how many are left, and ends them with --revoke', async () => {
      const { uid, access } = await given('counted');
      await makeCodes(access);
      const names = { uid, login_name: 'counted' };
      expect(await replicas.cli('user', 'recovery-codes', 'counted')).toMatchObject({ ...names, left: 10 });
      expect(await replicas.cli('user', 'recovery-codes', uid, '--revoke')).toEqual({ ...names, revoked: 10 });
      expect(await replicas.cli('user', 'recovery-codes', 'counted')).toEqual({ ...names, left: 0, created_at: null });
      expect(await replicas.run(['user', 'recovery-codes', 'nobody'])).toMatchObject({ code: 1 });
    });

    it('user devices lists the devices, and ends them with --revoke', async () => {
      const { uid, device } = await given('listed');
      const [listed] = await replicas.cli('user', 'devices', 'listed');
      expect(listed).toMatchObject({
        id: expect.any(String),
        ip: expect.any(String),
        last_used_at: expect.any(String),
      });
      expect(JSON.stringify(listed)).not.toContain(device);
      expect(await replicas.cli('user', 'devices', 'listed', '--revoke')).toMatchObject({ uid, revoked: 1 });
      expect(await replicas.cli('user', 'devices', 'listed')).toEqual([]);
    });

    const other = 'Another-Horse-8';
    it.each<[string, string[][], string]>([
      ['set-password', [['set-password', '', '--password', other]], other],
      ['revoke-tokens', [['revoke-tokens', '']], password],
      [
        'set-status',
        [
          ['set-status', '', '-1'],
          ['set-status', '', '1'],
        ],
        password,
      ],
      ['reset-totp', [['reset-totp', '']], password],
      ['set-mfa', [['set-mfa', '', 'totp']], password],
      ['devices', [['devices', '', '--revoke']], password],
    ])('user %s ends the trusted devices', async (command, calls, typed) => {
      const name = `ends-${command}`;
      const { uid, device } = await given(name);
      for (const [verb, , ...rest] of calls) await replicas.cli('user', verb!, name, ...rest);
      await replicas.rows("UPDATE cooldowns SET until = '2000-01-01' WHERE subject = ? AND kind = 'otp'", [uid]);
      expect((await logIn(name, device, 1, typed)).body.data).toMatchObject({ mfa_required: true, device_token: null });
    });
  });

  it('the database has reported no deadlock', async () => {
    expect(await replicas.deadlocks()).toEqual([]);
  });
});
