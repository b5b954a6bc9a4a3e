import { type ClientClock, systemClock } from './client-clock.js';
import { clientRules } from './client-rules.js';
import { leaseExclusive, lockExclusive } from './exclusive.js';
import { RuleError, ServiceError } from './failures.js';
import {
  changePasswordByRequest,
  createTotpSecret,
  forgetPassword,
  getCurrentUser,
  getPasswordChangeRequest,
  getPasswordPolicy,
  getOtpQrCode,
  login,
  logout,
  resendOtp,
  verifyOtp,
} from './generated/index.js';
import type {
  ChangeRequestResponse,
  ForgetPasswordDto,
  LoginResponse,
  MeResponse,
  OtpVerifyResponse,
  PasswordPolicyResponse,
} from './generated/index.js';
import type { Client } from './generated/client/index.js';
import { answerOf, dataOf, serviceClient, type ServiceClientOptions } from './service-client.js';
import { Session, type Tokens } from './session.js';
import {
  type Enrolment,
  isEnrolment,
  isPendingLogin,
  type Notice,
  type PendingLogin,
  type Snapshot,
  type Step,
} from './state.js';
import { browserStorage, type KeyValueStorage, Slot } from './storage.js';
import { Waits } from './waits.js';

export interface PortalAuthOptions extends ServiceClientOptions {
  /** Holds what all tabs share: the tokens and the waits. Default: `localStorage`. */
  readonly storage?: KeyValueStorage;
  /** Holds what belongs to one tab: the login that waits for its code. Default: `sessionStorage`. */
  readonly tabStorage?: KeyValueStorage;
  readonly clock?: ClientClock;
  /** Default: `navigator.locks`. Null stands for a browser without Web Locks. */
  readonly locks?: Pick<LockManager, 'request'> | null;
  /** Language of the messages and mails of the service. */
  readonly language?: Language;
}

export type Language = NonNullable<ForgetPasswordDto['lang']>;

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly provider?: 'password' | 'ldap';
  readonly captchaToken: string;
}

const prefix = 'portal-auth';

/**
 * State machine for the pages of a portal, without a user interface. `snapshot` says what the user can do now, and each
 * method is one action of the user. The limits of `clientRules` hold whatever the page does.
 */
export class PortalAuth {
  language: Language | undefined;
  private readonly clock: ClientClock;
  private readonly client: Client;
  private readonly session: Session;
  private readonly pending: Slot<PendingLogin>;
  private readonly enrolling: Slot<Enrolment>;
  private readonly sharedWaits: Waits;
  private readonly tabWaits: Waits;
  private readonly storages: readonly KeyValueStorage[];
  private readonly listeners = new Set<() => void>();
  private readonly stopListening: () => void;
  private stopTicking: () => void = () => undefined;
  private waitingUser: string | undefined;
  private forcedUid: string | undefined;
  private notice: Notice | undefined;
  private current: Snapshot;

  constructor(options: PortalAuthOptions) {
    const storage = options.storage ?? browserStorage('localStorage');
    const tabStorage = options.tabStorage ?? browserStorage('sessionStorage');
    this.storages = [storage, tabStorage];
    this.clock = options.clock ?? systemClock;
    this.language = options.language;
    this.client = serviceClient(options, () => this.language);
    const locks = options.locks === undefined ? browserLocks() : options.locks;
    const exclusive = locks
      ? lockExclusive(locks, `${prefix}.refresh`)
      : leaseExclusive(storage, `${prefix}.refresh`, this.clock, crypto.randomUUID());
    this.session = new Session(storage, `${prefix}.session`, this.client, exclusive, () => this.leave('session-ended'));
    this.pending = new Slot(tabStorage, `${prefix}.pending`, isPendingLogin);
    this.enrolling = new Slot(tabStorage, `${prefix}.enrolment`, isEnrolment);
    this.sharedWaits = new Waits(storage, `${prefix}.waits`, this.clock);
    this.tabWaits = new Waits(tabStorage, `${prefix}.tab-waits`, this.clock);
    this.current = this.draw();
    this.stopListening = onStorageOfOtherTabs(() => this.changed());
    this.tick();
  }

  /** Removes all listeners and timers. Call it in tests, and on pages that create more than one instance. */
  dispose(): void {
    this.stopListening();
    this.stopTicking();
    this.listeners.clear();
  }

  get snapshot(): Snapshot {
    return this.current;
  }

  /** @returns the function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // Login (docs/spec/service.md#4.1)

  /** Leads to the step `signed-in`, `code` or `password-change`. */
  async login({ username, password, provider, captchaToken }: Credentials): Promise<Step> {
    // The wait of MFA_429001 concerns one user: another user of the same browser may log in.
    if (username === this.waitingUser) this.assertNoWait(this.tabWaits, 'login');
    else this.tabWaits.end('login');
    this.waitingUser = username;
    this.forget();
    const body = { username, password, provider, captcha_token: captchaToken };
    try {
      this.entered(await dataOf(login({ client: this.client, body })));
    } catch (error) {
      this.waitAsTold(this.tabWaits, 'login', error);
      throw error;
    } finally {
      this.changed();
    }
    return this.current.step;
  }

  private entered(answer: LoginResponse): void {
    const { access_token: access, refresh_token: refresh, user_info: user } = answer;
    if (answer.change_password && answer.change_uid !== null) {
      this.forcedUid = answer.change_uid;
    } else if (answer.mfa_required) {
      this.pending.write({
        uid: user.uid,
        type: answer.mfa_type,
        mfaToken: answer.mfa_token,
        loginName: user.login_name,
        email: user.email,
        failures: 0,
      });
      if (answer.mfa_type === 'email') this.sharedWaits.start(resendOf(user.uid), clientRules.resendSeconds);
    } else if (access !== null && refresh !== null) {
      this.session.open({ access, refresh });
    }
  }

  /** Abandons a login that waits for its code or for a new password, and clears the notice of the login page. */
  backToLogin(): void {
    this.forget();
    this.changed();
  }

  // One-time code (docs/spec/service.md#4.2, docs/spec/service.md#4.3)

  /** A refused code starts a wait of 10 seconds. The fifth refused code ends the pending login. */
  async verifyCode(code: string): Promise<void> {
    const pending = this.pending.read();
    if (pending === undefined) throw new RuleError('no-pending-login');
    this.assertNoWait(this.tabWaits, 'code');
    const { uid, type, mfaToken } = pending;
    const body = { uid, type, code: plainCode(code), ...(mfaToken !== null && { mfa_token: mfaToken }) };
    try {
      this.opened(await dataOf(verifyOtp({ client: this.client, body })));
    } catch (error) {
      if (isRefusedCode(error)) this.codeRefused(pending);
      else this.waitAsTold(this.tabWaits, 'code', error);
      throw error;
    } finally {
      this.changed();
    }
  }

  private opened({ access_token: access, refresh_token: refresh }: OtpVerifyResponse): void {
    this.forget();
    this.session.open({ access, refresh });
  }

  private codeRefused(pending: PendingLogin): void {
    const failures = pending.failures + 1;
    if (failures >= clientRules.codeFailures) return this.leave('too-many-codes');
    this.pending.write({ ...pending, failures });
    this.tabWaits.start('code', clientRules.codeWaitSeconds);
  }

  /** Two mails are at least 60 seconds apart, also after a reload or a new login of the same user. */
  async resendCode(): Promise<void> {
    const pending = this.pending.read();
    if (pending?.type !== 'email') throw new RuleError('no-pending-login');
    const { uid, mfaToken } = pending;
    const wait = resendOf(uid);
    this.assertNoWait(this.sharedWaits, wait);
    const body = { uid, type: 'email' as const, ...(mfaToken !== null && { mfa_token: mfaToken }) };
    try {
      const { retry_after: told } = await dataOf(resendOtp({ client: this.client, body }));
      this.sharedWaits.start(wait, Math.max(told, clientRules.resendSeconds));
    } catch (error) {
      // No code is checked here, so this error can only mean that the login is no longer pending.
      if (isRefusedCode(error)) this.leave('login-expired');
      else this.waitAsTold(this.sharedWaits, wait, error);
      throw error;
    } finally {
      this.changed();
    }
  }

  // Forgotten password and forced change (docs/spec/service.md#4.9, #4.10 and #4.11)

  /** Each submission starts a wait of 5 seconds, whatever the answer is. */
  async forgotPassword(email: string): Promise<ChangeRequestResponse> {
    this.assertNoWait(this.sharedWaits, 'forgot');
    this.sharedWaits.start('forgot', clientRules.forgotSeconds);
    this.changed();
    const body = { email, ...(this.language !== undefined && { lang: this.language }) };
    return dataOf(forgetPassword({ client: this.client, body }));
  }

  /** The password change request of a mailed link. `type`: 0 first password, 2 forgotten, 3 expired. */
  findPasswordChange(uid: string): Promise<ChangeRequestResponse> {
    return dataOf(getPasswordChangeRequest({ client: this.client, path: { uid } }));
  }

  passwordPolicy(): Promise<PasswordPolicyResponse> {
    return dataOf(getPasswordPolicy({ client: this.client }));
  }

  /** On success both storages are cleared and the user must log in again. */
  async changePassword(uid: string, password: string, confirmation: string): Promise<void> {
    const body = { req_uid: uid, password, confirm_password: confirmation };
    await dataOf(changePasswordByRequest({ client: this.client, body }));
    for (const storage of this.storages) storage.clear();
    this.leave('password-changed');
  }

  // Session (docs/spec/service.md#4.6, docs/spec/service.md#4.7)

  me(): Promise<MeResponse> {
    return this.session.authorised((auth) => dataOf(getCurrentUser({ client: this.client, auth })));
  }

  /** For the portal's own requests. After a 401 of this service, `call` is repeated once with a new access token. */
  authorised<T>(call: (accessToken: string) => Promise<T>): Promise<T> {
    return this.session.authorised(call);
  }

  /** Signs out locally even if the service does not answer. In that case the tokens stay valid until they expire. */
  async logout(): Promise<void> {
    const { tokens } = this.session;
    this.session.close();
    this.forget();
    this.changed();
    if (tokens !== undefined) await this.revoke(tokens);
  }

  /** Sends the refresh token, because the access token may have expired. A refused token needs no revocation. */
  private async revoke(tokens: Tokens): Promise<void> {
    try {
      await dataOf(logout({ client: this.client, auth: tokens.refresh }));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    }
  }

  // Authenticator (docs/spec/service.md#4.4, docs/spec/service.md#4.5)

  /**
   * Starts an enrolment, or starts it again.
   * @param currentCode code of the active authenticator. It is needed to replace that one when the session is not young
   * (docs/spec/extensions.md#young-session).
   */
  async startEnrolment(currentCode?: string): Promise<void> {
    // The later requests need a valid access token: the service answers an expired one like a wrong code.
    const { tokens } = this.session;
    if (tokens !== undefined) await this.session.refresh(tokens.access);
    const { uid } = await this.me();
    const body = currentCode === undefined ? {} : { code: plainCode(currentCode) };
    const { secret, uri } = await this.session.authorised((auth) =>
      dataOf(createTotpSecret({ client: this.client, auth, body })),
    );
    this.enrolling.write({ uid, secret, uri, failures: 0 });
    this.changed();
  }

  /** The PNG image. The page cannot use its URL, because an `<img>` sends no bearer token. */
  async enrolmentQrCode(): Promise<Blob> {
    const uid = this.enrolment().uid;
    return this.session.authorised((auth) =>
      answerOf<Blob>(getOtpQrCode({ client: this.client, auth, path: { uid }, parseAs: 'blob' })),
    );
  }

  /** The first accepted code activates the authenticator. Refused codes count as they do at the login. */
  async confirmEnrolment(code: string): Promise<void> {
    const enrolment = this.enrolment();
    this.assertNoWait(this.tabWaits, 'code');
    const body = { uid: enrolment.uid, type: 'totp' as const, code: plainCode(code) };
    try {
      const former = this.session.tokens;
      this.opened(await this.session.authorised((auth) => dataOf(verifyOtp({ client: this.client, auth, body }))));
      // The service opens a new session with the second factor, so the former session is revoked.
      if (former !== undefined) void this.revoke(former).catch(() => undefined);
    } catch (error) {
      if (isRefusedCode(error)) this.enrolmentRefused(enrolment);
      else this.waitAsTold(this.tabWaits, 'code', error);
      throw error;
    } finally {
      this.changed();
    }
  }

  private enrolmentRefused(enrolment: Enrolment): void {
    const failures = enrolment.failures + 1;
    if (failures >= clientRules.codeFailures) return this.enrolling.remove();
    this.enrolling.write({ ...enrolment, failures });
    this.tabWaits.start('code', clientRules.codeWaitSeconds);
  }

  cancelEnrolment(): void {
    this.enrolling.remove();
    this.changed();
  }

  private enrolment(): Enrolment {
    const enrolment = this.enrolling.read();
    if (enrolment === undefined || this.session.tokens === undefined) throw new RuleError('signed-out');
    return enrolment;
  }

  // State

  private assertNoWait(waits: Waits, name: string): void {
    const seconds = waits.remaining(name);
    if (seconds > 0) throw new RuleError('wait', seconds);
  }

  private waitAsTold(waits: Waits, name: string, error: unknown): void {
    if (error instanceof ServiceError && error.status === 429) waits.start(name, error.retryAfter ?? 1);
  }

  private leave(notice: Notice): void {
    this.forget();
    this.notice = notice;
    this.changed();
  }

  private forget(): void {
    this.pending.remove();
    this.enrolling.remove();
    this.tabWaits.end('code');
    this.forcedUid = undefined;
    this.notice = undefined;
  }

  private changed(): void {
    this.current = this.draw();
    this.tick();
    for (const listener of [...this.listeners]) listener();
  }

  private draw(): Snapshot {
    const pending = this.pending.read();
    return {
      step: this.step(pending),
      enrolment: this.session.tokens === undefined ? undefined : this.enrolling.read(),
      waiting: {
        login: this.tabWaits.remaining('login'),
        code: this.tabWaits.remaining('code'),
        resend: pending === undefined ? 0 : this.sharedWaits.remaining(resendOf(pending.uid)),
        forgot: this.sharedWaits.remaining('forgot'),
      },
    };
  }

  /** Reads the storages each time, so that a login or logout in another tab takes effect here at once. */
  private step(pending: PendingLogin | undefined): Step {
    if (this.session.tokens !== undefined) return { kind: 'signed-in' };
    if (pending !== undefined) {
      const { type, loginName, email, failures } = pending;
      return { kind: 'code', type, loginName, email, attemptsLeft: clientRules.codeFailures - failures };
    }
    if (this.forcedUid !== undefined) return { kind: 'password-change', uid: this.forcedUid };
    return { kind: 'signed-out', ...(this.notice !== undefined && { notice: this.notice }) };
  }

  /** Updates the snapshot when the next second of a wait is over. */
  private tick(): void {
    this.stopTicking();
    const uid = this.pending.read()?.uid;
    const seconds = [
      this.tabWaits.untilNextSecond('login'),
      this.tabWaits.untilNextSecond('code'),
      this.sharedWaits.untilNextSecond('forgot'),
      uid === undefined ? undefined : this.sharedWaits.untilNextSecond(resendOf(uid)),
    ].filter((left) => left !== undefined);
    if (seconds.length > 0) this.stopTicking = this.clock.after(Math.min(...seconds), () => this.changed());
  }
}

const resendOf = (uid: string): string => `resend:${uid}`;

/** Accepts the spaces and full-width digits that people type or paste. */
const plainCode = (code: string): string => code.normalize('NFKC').replace(/\s/g, '');

function isRefusedCode(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'MFA_401001' || error.code === 'AUTH_MFA_401001');
}

function browserLocks(): Pick<LockManager, 'request'> | null {
  return (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks ?? null;
}

/** The browser sends storage events to every tab except the one that wrote. */
function onStorageOfOtherTabs(changed: () => void): () => void {
  const target = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>;
  const heard = (event: StorageEvent): void => {
    if (event.key === null || event.key.startsWith(prefix)) changed();
  };
  target.addEventListener?.('storage', heard);
  return () => target.removeEventListener?.('storage', heard);
}
