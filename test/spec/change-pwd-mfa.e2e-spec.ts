import { password as oldPassword } from '../support/app';
import { MfaClient } from '../support/mfa';
import { codeOf, goodPassword, submit } from '../support/reset';
import { openMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';

describe('a password change and the second factor', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  /** The token of the newest link. It is read from the outbox, because no mail is sent. */
  const mailedToken = async (email: string): Promise<string> => {
    const { service } = mfa;
    expect((await service.post('/forget-password', { email })).status).toBe(200);
    const rows = await service.database.rows<{ payload: string }>(
      `SELECT payload FROM mail_outbox WHERE kind = 'reset-link' AND payload IS NOT NULL`,
    );
    const mails = rows.map(({ payload }) => openMail(service.app.get(KeyRing), payload));
    const mail = mails.find(({ to }) => to === email);
    if (mail?.kind !== 'reset-link') throw new Error('no link was queued');
    return String(new URL(mail.link).searchParams.get('uid'));
  };

  it('ends a pending login: its code is refused afterwards', async () => {
    const user = await mfa.givenUser('pending');
    const token = await mailedToken('pending@example.com');
    const { uid, mfaToken, code } = await mfa.logInByMail(user);
    expect(codeOf(await submit(mfa.service, token, goodPassword(1)))).toBe('success');
    expect(codeOf(await mfa.verify(uid, 'email', code, { mfa_token: mfaToken }))).toBe('MFA_401001');
    expect(codeOf(await mfa.resend(uid, 'email', { mfa_token: mfaToken }))).toBe('MFA_401001');
    expect(await mfa.service.count('pending_logins', 'user_id = ? AND is_closed = 1', [user.uid])).toBe(1);
  });

  it('does not replace the second factor: a login with the new password still needs it (T128)', async () => {
    const user = await mfa.givenUser('second');
    const token = await mailedToken('second@example.com');
    expect(codeOf(await submit(mfa.service, token, goodPassword(1)))).toBe('success');
    const login = await mfa.service.login('second', goodPassword(1));
    expect(login.body.data).toMatchObject({ mfa_required: true, access_token: null, refresh_token: null });
    expect(await mfa.service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
  });

  it('a due password change comes before the second factor, and the next login needs the new password and a code', async () => {
    await mfa.givenUser('due', { temporary: true });
    const { data } = (await mfa.service.login('due')).body;
    expect(data).toMatchObject({ change_password: true, mfa_required: false, access_token: null });
    expect(codeOf(await submit(mfa.service, data.change_uid, goodPassword(1)))).toBe('success');
    expect((await mfa.service.login('due', goodPassword(1))).body.data).toMatchObject({ mfa_required: true });
    expect(codeOf(await mfa.service.login('due', oldPassword))).toBe('LOGIN_401001');
  });
});
