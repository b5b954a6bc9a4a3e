import { tally } from '../support/app';
import { MfaClient, wrongCode } from '../support/mfa';

const absentUid = '00000000-0000-4000-8000-000000000000';

describe('POST /otp-resend', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  it('T053 a resend within the cooldown is answered with MFA_429001 and the remaining seconds, and sends no mail', async () => {
    const user = await mfa.givenUser('t053');
    const { uid, code } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(18);
    const answer = await mfa.resend(uid);
    expect(answer).toMatchObject({ status: 429, body: { error_code: 'MFA_429001', data: { retry_after: 42 } } });
    expect(answer.headers['retry-after']).toBe('42');
    expect(await mfa.mails(user)).toHaveLength(1);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
  });

  it('T054 after the cooldown a new code replaces the old one', async () => {
    const user = await mfa.givenUser('t054');
    const { uid, code: old } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(60);
    const answer = await mfa.resend(uid);
    expect(answer).toMatchObject({ status: 200, body: { status: true, data: { result: true, retry_after: 60 } } });
    const code = await mfa.lastCode(user);
    expect(await mfa.mails(user)).toHaveLength(2);
    expect(await mfa.events(user, 'MFA_CODE_SENT')).toHaveLength(2);
    if (old !== code) expect((await mfa.verify(uid, 'email', old)).body.error_code).toBe('MFA_401001');
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
  });

  it.each([['totp'], [undefined], ['EMAIL'], [['email']], [''], [null], [1], ['email ']])(
    'T055 the type %p is answered with 400 MFA_400001',
    async (type) => {
      const answer = await mfa.service.post('/otp-resend', { uid: absentUid, ...(type === undefined ? {} : { type }) });
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'MFA_400001' } });
    },
  );

  it.each([[[absentUid]], [1], [null]])(
    'a uid that is not a string is answered with COMMON_400001 (%p)',
    async (uid) => {
      expect((await mfa.resend(uid)).body.error_code).toBe('COMMON_400001');
    },
  );

  it('T065 a resend without a pending login sends no mail and starts no cooldown for the next login', async () => {
    const user = await mfa.givenUser('t065');
    expect((await mfa.resend(user.uid)).body.error_code).toBe('MFA_401001');
    expect(await mfa.mails(user)).toHaveLength(0);
    expect((await mfa.service.login('t065')).status).toBe(200);
  });

  it('T066 a known uid without a pending login is answered like an unknown or a malformed one', async () => {
    const user = await mfa.givenUser('t066');
    const answers = await Promise.all(
      [user.uid, absentUid, 'x', ''].map(async (uid) => {
        const { status, body } = await mfa.resend(uid);
        return JSON.stringify({ status, body });
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('MFA_401001');
  });

  it('T068 a pending login that waits for an authenticator gets no mail and accepts no mailed code', async () => {
    const { user } = await mfa.givenAuthenticator('t068');
    const mails = (await mfa.mails(user)).length;
    await mfa.logIn('t068');
    mfa.service.clock.advanceSeconds(61);
    expect((await mfa.resend(user.uid)).body.error_code).toBe('MFA_401001');
    expect((await mfa.verify(user.uid, 'email', '123456')).body.error_code).toBe('MFA_401001');
    expect(await mfa.mails(user)).toHaveLength(mails);
    expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
  });

  it('T071 of ten parallel resends after the cooldown, one sends a mail, and nine are answered with MFA_429001', async () => {
    const user = await mfa.givenUser('t071');
    const { uid } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(60);
    const answers = await Promise.all(Array.from({ length: 10 }, () => mfa.resend(uid)));
    expect(tally(answers)).toEqual({ success: 1, MFA_429001: 9 });
    expect(await mfa.mails(user)).toHaveLength(2);
  });

  it('login and resend share one cooldown', async () => {
    const user = await mfa.givenUser('shared');
    const { uid } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(60);
    await mfa.resend(uid);
    mfa.service.clock.advanceSeconds(59);
    expect((await mfa.service.login('shared')).body).toMatchObject({
      error_code: 'MFA_429001',
      data: { retry_after: 1 },
    });
    mfa.service.clock.advanceSeconds(1);
    expect((await mfa.service.login('shared')).status).toBe(200);
  });

  it('a resend does not reset the attempts: four wrong codes before it and one after it end the pending login', async () => {
    const user = await mfa.givenUser('renewed');
    const { uid, code } = await mfa.logInByMail(user);
    for (let n = 1; n <= 4; n++) await mfa.verify(uid, 'email', wrongCode(code, n));
    mfa.service.clock.advanceSeconds(60);
    await mfa.resend(uid);
    const newer = await mfa.lastCode(user);
    await mfa.verify(uid, 'email', wrongCode(newer));
    expect((await mfa.verify(uid, 'email', newer)).status).toBe(401);
    mfa.service.clock.advanceSeconds(60);
    expect((await mfa.resend(uid)).body.error_code).toBe('MFA_401001');
    expect(await mfa.mails(user)).toHaveLength(2);
  });

  it('W35 a stranger can neither replace the code nor start the cooldown of the owner', async () => {
    const user = await mfa.givenUser('w35');
    const { uid, code } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(61);
    const stranger = { ip: '198.51.100.7' };
    for (const more of [{}, { mfa_token: 'A'.repeat(43) }]) {
      expect((await mfa.resend(uid, 'email', more, stranger)).body.error_code).toBe('MFA_401001');
    }
    expect((await mfa.resend(uid, 'email', { mfa_token: 'A'.repeat(43) })).body.error_code).toBe('MFA_401001');
    expect(await mfa.mails(user)).toHaveLength(1);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
  });

  it('a resent code expires with its pending login', async () => {
    const user = await mfa.givenUser('outlive');
    const { uid } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(280);
    await mfa.resend(uid);
    const [, mail] = await mfa.mails(user);
    expect(mail).toMatchObject({ expires: new Date(mfa.now.getTime() + 20_000) });
    mfa.service.clock.advanceSeconds(20);
    expect((await mfa.verify(uid, 'email', lastOf(mail))).status).toBe(401);
    mfa.service.clock.advanceSeconds(60);
    expect((await mfa.resend(uid)).status).toBe(401);
  });

  it('a resend in parallel with the acceptance of the old code leaves one token pair, whichever comes first', async () => {
    const orders = new Set<string>();
    for (let round = 0; round < 16; round++) {
      const user = await mfa.givenUser(`revive-${round}`);
      const { uid, code } = await mfa.logInByMail(user);
      mfa.service.clock.advanceSeconds(60);
      const verify = () => mfa.verify(uid, 'email', code);
      const resend = () => mfa.resend(uid);
      // Each round delays the second request by another number of statements, so that the two requests interleave in
      // many ways. In the first and in the last round one request ends before the other starts, so both orders occur.
      const [first, second] = round < 8 ? [resend, verify] : [verify, resend];
      const begun = first();
      if (round === 0 || round === 15) await begun;
      for (let n = 0; n < Math.abs(8 - round); n++) await mfa.service.database.row('SELECT 1 AS one');
      await Promise.all([begun, second()]);
      const spent = (await mfa.tokens(user)) > 0;
      orders.add(spent ? 'accepted first' : 'replaced first');
      expect(Number((await mfa.row('pending_logins', user)).is_closed)).toBe(spent ? 1 : 0);
      const after = await mfa.verify(uid, 'email', await mfa.lastCode(user));
      expect(after.status).toBe(spent ? 401 : 200);
      expect(await mfa.tokens(user)).toBe(2);
    }
    expect(orders.size).toBe(2);
  });

  it('a user without an e-mail address gets the same answer, and no mail is sent', async () => {
    await mfa.givenUser('nomail', { email: null });
    mfa.service.clock.advanceSeconds(61);
    const { uid } = await mfa.logIn('nomail');
    mfa.service.clock.advanceSeconds(61);
    const mails = await mfa.service.count('mail_outbox');
    expect((await mfa.resend(uid)).status).toBe(200);
    expect(await mfa.service.count('mail_outbox')).toBe(mails);
  });
});

function lastOf(mail: unknown): string {
  return (mail as { code: string }).code;
}
