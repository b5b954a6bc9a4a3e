import { generateSync } from 'otplib';
import { openMail, type QueuedMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import type { NewUser } from '../../src/users/user-accounts';
import type { User } from '../../src/users/user.entity';
import { type Answer, password, type Request, TestService } from './app';

/** Nothing listens on this port, so mails stay in the outbox, where tests read them. */
export const mailsStay = { SMTP_URL: 'smtp://127.0.0.1:9' };

export const mfaSettings = { ...mailsStay, MFA_REQUIRED: 'true' };

export interface OpenLogin {
  readonly uid: string;
  readonly mfaToken: string;
}

/** The code that an authenticator app shows. otplib computes it, because the service uses another library. */
export function authenticatorCode(secret: string, time: Date, steps = 0): string {
  return generateSync({ secret, epoch: Math.floor(time.getTime() / 1000) + 30 * steps });
}

/** A wrong six-digit code. Each `n` gives another one. */
export function wrongCode(right: string, n = 1): string {
  return String((Number(right) + n) % 1_000_000).padStart(6, '0');
}

/** A service with the requests of the second factor, and the mails of its users. */
export class MfaClient {
  constructor(readonly service: TestService) {}

  static async start(settings: Record<string, string> = {}): Promise<MfaClient> {
    return new MfaClient(await TestService.start({ ...mfaSettings, ...settings }));
  }

  /** Starts a service with other settings for one test, and stops it afterwards. */
  static async with(settings: Record<string, string>, use: (mfa: MfaClient) => Promise<void>): Promise<void> {
    const mfa = await MfaClient.start(settings);
    await use(mfa).finally(() => mfa.stop());
  }

  stop(): Promise<void> {
    return this.service.stop();
  }

  get now(): Date {
    return this.service.clock.now();
  }

  givenUser(loginName: string, more: Partial<NewUser> & { password?: string | null } = {}): Promise<User> {
    return this.service.givenUser(loginName, more);
  }

  /** Logs in with the password. Throws unless the second factor is required. */
  async logIn(loginName: string, request: Request = {}): Promise<OpenLogin> {
    const { status, body } = await this.service.login(loginName, password, {}, request);
    if (status !== 200 || body.data.mfa_required !== true) throw new Error(`login answered ${JSON.stringify(body)}`);
    return { uid: body.data.user_info.uid as string, mfaToken: body.data.mfa_token as string };
  }

  /** Waits until the cooldown is over, logs in, and reads the code from the mail. */
  async logInByMail(user: User): Promise<OpenLogin & { code: string }> {
    this.service.clock.advanceSeconds(61);
    const open = await this.logIn(user.loginName);
    return { ...open, code: await this.lastCode(user) };
  }

  verify(uid: unknown, type: unknown, code: unknown, more: Record<string, unknown> = {}, request: Request = {}) {
    return this.service.post('/otp-verify', { uid, type, code, ...more }, request);
  }

  resend(uid: unknown, type: unknown = 'email', more: Record<string, unknown> = {}, request: Request = {}) {
    return this.service.post('/otp-resend', { uid, type, ...more }, request);
  }

  /** Logs in with a mailed code and returns the token pair. */
  async session(user: User): Promise<{ access: string; refresh: string }> {
    const { uid, code } = await this.logInByMail(user);
    return pairOf(await this.verify(uid, 'email', code));
  }

  async newSecret(access: string, body?: unknown): Promise<{ secret: string; uri: string }> {
    const answer = await this.service.post('/totp-secret', body, { bearer: access });
    if (answer.status !== 200) throw new Error(`totp-secret answered ${JSON.stringify(answer.body)}`);
    return answer.body.data as { secret: string; uri: string };
  }

  code(secret: string, steps = 0): string {
    return authenticatorCode(secret, this.now, steps);
  }

  /** The codes of the time steps that the service accepts. */
  private codes(secret: string): string[] {
    return [0, -1, 1].map((steps) => this.code(secret, steps));
  }

  /** A code that is wrong for each time step that the service accepts. Each `n` gives another one. */
  wrongCode(secret: string, n = 1): string {
    const accepted = this.codes(secret);
    const others = Array.from({ length: n + accepted.length }, (_, i) => wrongCode(accepted[0]!, i + 1));
    return others.filter((code) => !accepted.includes(code))[n - 1]!;
  }

  /** A code of one authenticator that another one does not show, not even by chance. */
  codeOnlyOf(secret: string, other: string): string {
    const accepted = this.codes(other);
    return this.codes(secret).find((code) => !accepted.includes(code))!;
  }

  /** Creates a user with an active authenticator. The time step of its first code is over. */
  async givenAuthenticator(loginName: string): Promise<{ user: User; secret: string; access: string }> {
    const user = await this.givenUser(loginName);
    const { access } = await this.session(user);
    const { secret } = await this.newSecret(access);
    const answer = await this.verify(user.uid, 'totp', this.code(secret), {}, { bearer: access });
    if (answer.status !== 200) throw new Error(`confirmation answered ${JSON.stringify(answer.body)}`);
    this.service.clock.advanceSeconds(60);
    return { user, secret, access };
  }

  /** Mails to this user in the outbox, the oldest first. */
  async mails(user: User, kind: QueuedMail['kind'] = 'otp'): Promise<QueuedMail[]> {
    const keys = this.service.app.get(KeyRing);
    const rows = await this.service.database.rows<{ payload: string }>(
      'SELECT payload FROM mail_outbox WHERE kind = ? AND payload IS NOT NULL ORDER BY created_at',
      [kind],
    );
    return rows.map(({ payload }) => openMail(keys, payload)).filter((mail) => mail.to === user.email);
  }

  async lastCode(user: User): Promise<string> {
    const mail = (await this.mails(user)).at(-1);
    if (mail?.kind !== 'otp') throw new Error(`no code was sent to ${user.email}`);
    return mail.code;
  }

  async events(user: User, event: string): Promise<Record<string, unknown>[]> {
    const rows = await this.service.database.rows<{ detail: string }>(
      'SELECT detail FROM audit_logs WHERE user_id = ? AND event = ? ORDER BY id',
      [user.uid, event],
    );
    return rows.map(({ detail }) => JSON.parse(detail) as Record<string, unknown>);
  }

  async row(table: 'pending_logins' | 'totp_secrets', user: User): Promise<Record<string, any>> {
    const row = await this.service.database.row<Record<string, any>>(`SELECT * FROM ${table} WHERE user_id = ?`, [
      user.uid,
    ]);
    if (row === undefined) throw new Error(`no row in ${table}`);
    return row;
  }

  tokens(user: User): Promise<number> {
    return this.service.count('login_tokens', 'user_identity = ?', [user.uid]);
  }
}

export function pairOf({ status, body }: Answer): { access: string; refresh: string } {
  if (status !== 200) throw new Error(`expected a token pair, but the service answered ${JSON.stringify(body)}`);
  return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
}
