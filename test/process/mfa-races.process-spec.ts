import { KeyRing } from '../../src/platform/crypto/key-ring';
import { openMail } from '../../src/mail/outbox/mail-payload';
import { SystemRandom } from '../../src/shared/random';
import { type Answer, tally } from '../support/app';
import { authenticatorCode, mfaSettings, wrongCode } from '../support/mfa';
import { codeMails, Replicas } from '../support/replicas';
import { password as right, testSettings } from '../support/settings';

const keys = new KeyRing({ dataKeys: [Buffer.from(testSettings.DATA_ENCRYPTION_KEY, 'base64')] }, new SystemRandom());

/** The requests go to two processes in turn, so only the database can keep these guarantees. */
describe('the second factor over two processes on MariaDB', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    // Longer than any pause of the machine within a burst. The tests end a cooldown by a statement.
    replicas = await Replicas.start({ ...mfaSettings, OTP_COOLDOWN_SECONDS: '600' });
  });
  afterAll(() => replicas.stop());

  const givenUser = (name: string) => replicas.givenUser(name, { password: right });
  const endCooldown = (uid: string) =>
    replicas.rows("UPDATE cooldowns SET until = '2000-01-01' WHERE subject = ? AND kind = 'otp'", [uid]);
  const verify = (uid: string, type: string, code: string, n = 0, headers = {}): Promise<Answer> =>
    replicas.post('/otp-verify', { uid, type, code }, n, headers);
  const burst = (count: number, run: (n: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const mails = async (name: string): Promise<string[]> =>
    (await replicas.rows(codeMails)).flatMap((row) => {
      const mail = openMail(keys, row.payload as string);
      return mail.kind === 'otp' && mail.to === `${name}@example.com` ? [mail.code] : [];
    });
  const logIn = async (name: string, uid: string): Promise<string> => {
    await endCooldown(uid);
    expect((await replicas.login(name, right)).body.data.mfa_required).toBe(true);
    return (await mails(name)).at(-1) ?? '';
  };
  const number = async (statement: string, uid: string) => Number((await replicas.rows(statement, [uid]))[0]?.n);
  const tokens = (uid: string) => number('SELECT COUNT(*) AS n FROM login_tokens WHERE user_identity = ?', uid);
  const compared = (uid: string) =>
    number("SELECT COUNT(*) AS n FROM audit_logs WHERE event = 'MFA_CODE_WRONG' AND user_id = ?", uid);

  it('T058 of 20 parallel requests with the right code, one gets a token pair', async () => {
    const uid = await givenUser('t058');
    const code = await logIn('t058', uid);
    const answers = await burst(20, (n) => verify(uid, 'email', code, n));
    expect(tally(answers)).toEqual({ success: 1, MFA_401001: 19 });
    expect(await tokens(uid)).toBe(2);
  });

  it('of 200 parallel wrong codes, five are compared, and the right code is refused afterwards', async () => {
    const uid = await givenUser('burst');
    const code = await logIn('burst', uid);
    expect(tally(await burst(200, (n) => verify(uid, 'email', wrongCode(code, n + 1), n)))).toEqual({
      MFA_401001: 200,
    });
    expect(await compared(uid)).toBe(5);
    expect(tally([await verify(uid, 'email', code)])).toEqual({ MFA_401001: 1 });
    expect(await tokens(uid)).toBe(0);
  });

  it('T061 ten wrong codes over several logins block all codes, and a correct password does not end the block', async () => {
    const uid = await givenUser('t061');
    for (let login = 0; login < 3; login++) {
      const code = await logIn('t061', uid);
      await burst(30, (n) => verify(uid, 'email', wrongCode(code, n + 1), n));
    }
    expect(await compared(uid)).toBe(10);
    expect(tally([await verify(uid, 'email', (await mails('t061')).at(-1) ?? '')])).toEqual({ MFA_401001: 1 });
    const exhausted = await replicas.rows(
      "SELECT detail FROM audit_logs WHERE event = 'MFA_BUDGET_EXHAUSTED' AND user_id = ? AND detail LIKE '%account%'",
      [uid],
    );
    expect(exhausted).toHaveLength(1);
    await replicas.rows(
      'UPDATE users SET mfa_blocked_until = DATE_SUB(mfa_blocked_until, INTERVAL 900 SECOND) WHERE uid = ?',
      [uid],
    );
    expect((await verify(uid, 'email', await logIn('t061', uid))).status).toBe(200);
  });

  it('T072 of five parallel logins, one sends a mail, and four are answered with MFA_429001', async () => {
    await givenUser('t072');
    expect(tally(await burst(5, (n) => replicas.login('t072', right, n)))).toEqual({ success: 1, MFA_429001: 4 });
    expect(await mails('t072')).toHaveLength(1);
  });

  it('T071 of ten parallel resends after the cooldown, one sends a mail, and nine are answered with MFA_429001', async () => {
    const uid = await givenUser('t071');
    await logIn('t071', uid);
    await endCooldown(uid);
    const answers = await burst(10, (n) => replicas.post('/otp-resend', { uid, type: 'email' }, n));
    expect(tally(answers)).toEqual({ success: 1, MFA_429001: 9 });
    expect(await mails('t071')).toHaveLength(2);
  });

  describe('authenticator', () => {
    const enrol = async (name: string): Promise<{ uid: string; secret: string }> => {
      const uid = await givenUser(name);
      const { body } = await verify(uid, 'email', await logIn(name, uid));
      const bearer = { authorization: `Bearer ${body.data.access_token as string}` };
      const secret = (await replicas.post('/totp-secret', {}, 0, bearer)).body.data.secret as string;
      // The enrolment starts on one process. Both processes then show the QR code and accept the code.
      expect((await replicas.get(`/otp-qrcode/${uid}`, 1, bearer)).headers['content-type']).toBe('image/png');
      // The code of the next time step is valid for at least a minute.
      const code = authenticatorCode(secret, new Date(), 1);
      const answers = await burst(10, (n) => verify(uid, 'totp', code, n, bearer));
      expect(tally(answers)).toEqual({ success: 1, AUTH_MFA_401001: 9 });
      // The test may use the code of the same time step.
      await replicas.rows('UPDATE totp_secrets SET last_used_step = 0 WHERE user_id = ?', [uid]);
      return { uid, secret };
    };

    it('T085 of 20 parallel requests with the right code, one gets a token pair, and the code is refused afterwards', async () => {
      const { uid, secret } = await enrol('t085');
      await replicas.login('t085', right);
      const before = await tokens(uid);
      const code = authenticatorCode(secret, new Date(), 1);
      expect(tally(await burst(20, (n) => verify(uid, 'totp', code, n)))).toEqual({ success: 1, AUTH_MFA_401001: 19 });
      await replicas.login('t085', right);
      expect((await verify(uid, 'totp', code)).status).toBe(401);
      expect(await tokens(uid)).toBe(before + 2);
    });

    /** The authenticator has no cooldown: an attacker who knows the password can start any number of pending logins. */
    it('T086 ten wrong codes are compared, however many logins start in parallel', async () => {
      const { uid, secret } = await enrol('t086');
      await replicas.rows('DELETE FROM audit_logs WHERE user_id = ?', [uid]);
      await replicas.rows('UPDATE users SET mfa_failed_count = 0 WHERE uid = ?', [uid]);
      const now = new Date();
      const good = new Set([-2, -1, 0, 1, 2].map((steps) => authenticatorCode(secret, now, steps)));
      const guesses = Array.from({ length: 60 }, (_, n) => wrongCode('500000', n * 7)).filter(
        (code) => !good.has(code),
      );
      for (let round = 0; round < 4; round++) {
        await Promise.all([
          burst(8, (n) => replicas.login('t086', right, n)),
          ...guesses.slice(round * 14, (round + 1) * 14).map((code, n) => verify(uid, 'totp', code, n)),
        ]);
      }
      // Each new login ends the former one, so chance decides how many guesses of a round met a pending login. Two
      // logins of their own use up what is left, whatever that is.
      for (const first of ['900000', '800000']) {
        await replicas.login('t086', right);
        await burst(10, (n) => verify(uid, 'totp', wrongCode(first, n), n));
      }
      expect(await compared(uid)).toBe(10);
      await replicas.login('t086', right);
      expect((await verify(uid, 'totp', authenticatorCode(secret, new Date(), 1))).status).toBe(401);
    });

    it('after user reset-totp the next login uses mail', async () => {
      const { uid } = await enrol('lost');
      expect(await replicas.cli('user', 'reset-totp', 'lost')).toMatchObject({ uid, result: true });
      expect(await replicas.cli('user', 'show', 'lost')).toMatchObject({ mfa_type: 'email', totp_confirmed: false });
      expect((await verify(uid, 'email', await logIn('lost', uid))).status).toBe(200);
    });
  });

  it('the database has reported no deadlock', async () => {
    expect(await replicas.deadlocks()).toEqual([]);
  });
});
