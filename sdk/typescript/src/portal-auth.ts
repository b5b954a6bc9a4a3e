import { listen } from './browser-events.js';
import { type ClientClock, systemClock } from './client-clock.js';
import { clientRules } from './client-rules.js';
import { isRefusedCode, plainCode, resendOf } from './codes.js';
import { type AskFreshLogin, type ConfirmationCode, Confirmations, type Proof } from './confirmations.js';
import { DeviceTokens } from './device-tokens.js';
import { leaseExclusive, type Locks, lockExclusive } from './exclusive.js';
import { externalAddress, type ExternalSignIn, withCookies } from './external-sign-ins.js';
import { type KeyProblem, RuleError, ServiceError } from './failures.js';
import {
  changePasswordByRequest,
  createTotpSecret,
  discoverSignIn,
  forgetPassword,
  getCapabilities,
  getCaptchaChallenge,
  getCurrentUser,
  getPasswordChangeRequest,
  getPasswordPolicy,
  getOtpQrCode,
  login,
  loginExternally,
  resendOtp,
  verifyOtp,
} from './generated/index.js';
import type {
  CapabilitiesResponse,
  CaptchaChallengeResponse,
  ChangeRequestResponse,
  DiscoverResponse,
  LiveRequestResponse,
  ForgetPasswordDto,
  IdentityProviderCapability,
  LoginResponse,
  MeResponse,
  OtpVerifyResponse,
  PasswordPolicyResponse,
} from './generated/types.gen.js';
import type { Client } from './generated/client/index.js';
import {
  OwnAccount,
  type OwnPasswordChange,
  type OwnSession,
  type PastLogin,
  type RecoveryCodeSummary,
  type TrustedDevice,
} from './own-account.js';
import { type NewPasskey, type Passkey, Passkeys, type PasskeySignIn } from './own-passkeys.js';
import type { PasskeyBrowser, PasskeySupport } from './passkey-browser.js';
import { isBound, Proofs } from './proofs.js';
import { answerOf, dataOf, type Outcome, serviceClient, type ServiceClientOptions } from './service-client.js';
import { Session } from './session.js';
import { SignOuts } from './sign-outs.js';
import {
  type Enrolment,
  isPendingLogin,
  nobody,
  type Notice,
  type PendingLogin,
  type Snapshot,
  type Step,
} from './state.js';
import { browserStorage, type KeyValueStorage, SafeStorage, Slot } from './storage.js';
import { successorsIn } from './successors.js';
import { keysFor, type KeyStore } from './token-keys.js';
import { Waits } from './waits.js';

export interface PortalAuthOptions extends ServiceClientOptions {
  /** Holds the data that all tabs share: the tokens and the waits. Default: `localStorage`. */
  readonly storage?: KeyValueStorage;
  /** Holds the data of one tab: the login that waits for its code. Default: `sessionStorage`. */
  readonly tabStorage?: KeyValueStorage;
  readonly clock?: ClientClock;
  /** Default: `navigator.locks`. Null stands for a browser without Web Locks. */
  readonly locks?: Locks | null;
  /**
   * Keeps the key that the tokens are bound to. Default: IndexedDB in a page, the memory of this object elsewhere, and none
   * beside a `storage` of your own. Null: the tokens are not bound.
   */
  readonly keyStore?: KeyStore | null;
  /** Language of the messages and mails of the service. */
  readonly language?: Language;
  /** Loads the code for passkeys when it is needed first: `() => import('@portal-auth/sdk/passkeys')`. */
  readonly passkeys?: () => Promise<PasskeyBrowser>;
}

export type Language = NonNullable<ForgetPasswordDto['lang']>;

export interface Credentials {
  /** The login name. Where `capabilities().login_by_email` is true, also the address of a local user. */
  readonly username: string;
  readonly password: string;
  /** `auto` where `capabilities().providers` has both kinds: the name then tells the kind of account. */
  readonly provider?: 'password' | 'ldap' | 'auto';
  readonly captchaToken: string;
}

export interface CodeOptions {
  /** The code is a recovery code, which replaces a mailed code and the code of an authenticator. */
  readonly type?: 'recovery';
  /** The next logins on this device need no code, for the `trusted_device_days` of `capabilities()`. */
  readonly trustDevice?: boolean;
}

/** The options that `call()` adds to a generated operation. */
export interface OperationOptions {
  readonly client: Client;
  /** The access token. */
  readonly auth: string;
  readonly signal?: AbortSignal;
}

export type Operation<T> = (options: OperationOptions) => Promise<Outcome<T>>;

export interface CallOptions {
  /** An aborted call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** In place of the time-out of this object. */
  readonly timeoutMs?: number;
}

const prefix = 'portal-auth';

/** All keys of this SDK in a storage. The storage of an origin also holds keys of other programs. */
const keys = {
  session: `${prefix}.session`,
  refresh: `${prefix}.refresh`,
  signOuts: `${prefix}.sign-outs`,
  waits: `${prefix}.waits`,
  pending: `${prefix}.pending`,
  setAside: `${prefix}.set-aside`,
  devices: `${prefix}.devices`,
  tabWaits: `${prefix}.tab-waits`,
  /** A database of its own: a new version of another one would lock out the tabs with an older SDK. */
  key: `${prefix}.key`,
} as const;

/**
 * State machine for the pages of a portal, without a user interface. `snapshot` shows the current state, and each
 * method is one action of the user. The SDK enforces the limits of `clientRules`, whatever the page does.
 */
export class PortalAuth {
  language: Language | undefined;
  private readonly clock: ClientClock;
  private readonly client: Client;
  private readonly proofs: Proofs;
  private readonly fetcher: typeof fetch;
  private readonly clientWith: (timeoutMs: number) => Client;
  /** Has a shorter time-out than `client`, because a login waits for its answers. */
  private readonly promptClient: Client;
  private readonly session: Session;
  private readonly account: OwnAccount;
  private readonly ownPasskeys: Passkeys;
  private readonly confirmations: Confirmations;
  private readonly devices: DeviceTokens;
  private readonly pending: Slot<PendingLogin>;
  /** The pending login that the user left for the login page. Its code stays valid. */
  private readonly setAside: Slot<PendingLogin>;
  private readonly signOuts: SignOuts;
  private readonly sharedWaits: Waits;
  private readonly tabWaits: Waits;
  private readonly storages: readonly SafeStorage[];
  private readonly listeners = new Set<() => void>();
  private readonly stopListening: () => void;
  private stopTicking: () => void = () => undefined;
  private waitingUser: string | undefined;
  /** By the tenant whose brand they have. */
  private readonly offered: Record<string, Promise<CapabilitiesResponse> | undefined> = {};
  private forcedUid: string | undefined;
  private enrolling: Enrolment | undefined;
  private completing: { readonly code: string; readonly step: Promise<Step> } | undefined;
  private notice: Notice | undefined;
  private current: Snapshot;

  constructor(options: PortalAuthOptions) {
    const storage = new SafeStorage(options.storage ?? browserStorage('localStorage'));
    const tabStorage = new SafeStorage(options.tabStorage ?? browserStorage('sessionStorage'));
    this.storages = [storage, tabStorage];
    this.clock = options.clock ?? systemClock;
    this.language = options.language;
    const language = () => this.language;
    this.proofs = new Proofs(keysFor(options, keys.key, this.clock), this.clock);
    this.fetcher = options.fetch ?? ((...call) => fetch(...call));
    this.client = serviceClient(options, language, this.clock, this.proofs);
    this.clientWith = (timeoutMs) => serviceClient({ ...options, timeoutMs }, language, this.clock, this.proofs);
    this.promptClient = this.clientWith(clientRules.captchaSeconds * 1000);
    const locks = options.locks === undefined ? browserLocks() : options.locks;
    const exclusive = locks
      ? lockExclusive(locks, keys.refresh)
      : leaseExclusive(storage, keys.refresh, this.clock, leaseOwner());
    const ports = { exclusive, successors: successorsIn(prefix, this.clock), clock: this.clock };
    this.session = new Session(storage, keys.session, this.client, ports, {
      ended: () => this.leave('session-ended'),
      renewed: () => this.changed(),
      unclaimed: ({ refresh }) => void this.signOuts.end(refresh).catch(() => undefined),
    });
    this.account = new OwnAccount(this.client, this.session);
    this.ownPasskeys = new Passkeys(this.client, this.session, this.clock, options.passkeys);
    this.devices = new DeviceTokens(storage, keys.devices);
    this.signOuts = new SignOuts(storage, keys.signOuts, this.client, this.clock, (heard) => {
      if (heard) this.notice = 'logout-heard';
      this.changed();
    });
    this.pending = new Slot(tabStorage, keys.pending, isPendingLogin);
    this.setAside = new Slot(tabStorage, keys.setAside, isPendingLogin);
    this.sharedWaits = new Waits(storage, keys.waits, this.clock);
    this.tabWaits = new Waits(tabStorage, keys.tabWaits, this.clock);
    this.confirmations = new Confirmations({
      ...{ client: this.client, session: this.session, passkeys: this.ownPasskeys },
      ...{ tabWaits: this.tabWaits, sharedWaits: this.sharedWaits, changed: () => this.changed() },
    });
    this.current = this.draw();
    const retry = () => void this.signOuts.retry().catch(() => undefined);
    const stopStorage = listen('storage', ({ key }: { readonly key?: string | null }) => {
      if (key == null || key.startsWith(prefix)) this.changed();
    });
    const stopOnline = listen('online', retry);
    this.stopListening = () => {
      stopStorage();
      stopOnline();
    };
    this.tick();
    retry();
  }

  /** Removes all listeners and timers. Call it in tests, and on pages that create more than one instance. */
  dispose(): void {
    this.stopListening();
    this.stopTicking();
    this.signOuts.dispose();
    this.ownPasskeys.dispose();
    this.listeners.clear();
  }

  get snapshot(): Snapshot {
    return this.current;
  }

  /**
   * What a server draws, and what a browser draws first over the HTML of the server: nobody is signed in. It is the third
   * argument of React's `useSyncExternalStore`.
   */
  get serverSnapshot(): Snapshot {
    return nobody;
  }

  /** @returns the function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Returns the features of the service and the brand of its pages: of `tenant`, or of the service. This object caches the
   * answer. If the request fails, or has no answer after 10 s, the next call sends it again.
   */
  capabilities(query: { readonly tenant?: string | undefined } = {}): Promise<CapabilitiesResponse> {
    const key = `of ${query.tenant}`;
    return (this.offered[key] ??= dataOf(getCapabilities({ client: this.promptClient, query })).catch(
      (error: unknown) => {
        this.offered[key] = undefined;
        throw error;
      },
    ));
  }

  // Login (docs/spec/service.md#4.1)

  /**
   * Requests a challenge of the service's own captcha (docs/adr/0006-captcha.md). The request has a time-out of 10 s,
   * so that a login does not wait for ever.
   */
  captchaChallenge(): Promise<CaptchaChallengeResponse> {
    return answerOf(getCaptchaChallenge({ client: this.promptClient }));
  }

  /** Leads to the step `signed-in`, `code` or `password-change`. On a trusted device, no code is needed. */
  async login({ username, password, provider, captchaToken }: Credentials): Promise<Step> {
    // The wait of MFA_429001 applies to one user only. Another user of the same browser may log in.
    if (username === this.waitingUser) this.assertNoWait(this.tabWaits, 'login');
    else this.tabWaits.end('login');
    this.waitingUser = username;
    this.forget();
    const deviceToken = this.devices.of(username);
    const body = {
      username,
      password,
      provider,
      captcha_token: captchaToken,
      ...(deviceToken !== undefined && { device_token: deviceToken }),
    };
    try {
      this.entered(await dataOf(login({ client: this.client, body })), username);
      this.setAside.remove();
    } catch (error) {
      if (!this.resumed(username, error)) {
        this.waitAsTold(this.tabWaits, 'login', error);
        throw error;
      }
    } finally {
      this.changed();
    }
    return this.current.step;
  }

  private entered(answer: LoginResponse, username: string): void {
    const { access_token: access, refresh_token: refresh, user_info: user } = answer;
    this.devices.keep(username, answer.device_token);
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
        username,
        resumed: false,
      });
      if (answer.mfa_type === 'email') this.sharedWaits.start(resendOf(user.uid), clientRules.resendSeconds);
    } else if (access !== null && refresh !== null) {
      this.session.open({ access, refresh });
    }
  }

  /**
   * MFA_429001 means that the password was correct and that the code mailed before is still valid. If this tab has the
   * pending login of that code, the user continues it instead of waiting for the next mail.
   */
  private resumed(username: string, error: unknown): boolean {
    const setAside = this.setAside.read();
    if (!(error instanceof ServiceError) || error.code !== 'MFA_429001' || setAside?.username !== username)
      return false;
    this.setAside.remove();
    this.pending.write({ ...setAside, resumed: true });
    this.waitAsTold(this.sharedWaits, resendOf(setAside.uid), error);
    return true;
  }

  /**
   * Leaves a login that waits for its code or for a new password, and clears the notice of the login page. A login of
   * the same user within the cooldown of the code mail resumes the pending login.
   */
  backToLogin(): void {
    const pending = this.pending.read();
    this.forget();
    if (pending?.type === 'email') this.setAside.write(pending);
    this.changed();
  }

  /** What this browser can do with passkeys. `capabilities()` says whether the service accepts them. */
  passkeySupport(): Promise<PasskeySupport> {
    return this.ownPasskeys.support();
  }

  /**
   * Logs in with a passkey, which needs neither a user name nor a code. Leads to the step `signed-in`, or to
   * `password-change` if the password is a temporary one.
   * @throws PasskeyError, ServiceError, ConnectionError or RuleError
   */
  async signInWithPasskey(options: PasskeySignIn = {}): Promise<Step> {
    this.assertNoWait(this.tabWaits, 'passkey');
    try {
      const answer = await this.ownPasskeys.signIn(options);
      this.forget();
      this.setAside.remove();
      this.entered(answer, answer.user_info.login_name);
    } catch (error) {
      this.waitAsTold(this.tabWaits, 'passkey', error);
      throw error;
    } finally {
      this.changed();
    }
    return this.current.step;
  }

  // Sign-in at an identity provider (docs/spec/extensions.md#k)

  /** The identity providers that get a button on the login page. */
  async providers(): Promise<readonly IdentityProviderCapability[]> {
    // A service of an earlier version answers none.
    const { identity_providers: known = [] }: Partial<CapabilitiesResponse> = await this.capabilities();
    return known;
  }

  /** Whether somebody with this name has a password here or signs in elsewhere, where `capabilities().login_discovery` is true. */
  discover(username: string): Promise<DiscoverResponse> {
    return dataOf(discoverSignIn({ client: this.client, body: { username } }));
  }

  /**
   * Begins a sign-in at an identity provider. The provider leads back to the pages, with a code for `completeExternal()` in
   * `/?external=CODE`, or with the code of a refusal in `/?error=CODE`.
   * @returns the address where the browser has to go: `location.assign(await auth.signInWith('acme'))`
   */
  signInWith(id: string, options: ExternalSignIn = {}): Promise<string> {
    return externalAddress(this.client, this.session, id, options);
  }

  /**
   * Ends a sign-in at an identity provider. Leads to the step `signed-in` or `code`, as `login()`. The code works once, so two
   * calls at once send it once.
   */
  completeExternal(code: string): Promise<Step> {
    if (this.completing?.code === code) return this.completing.step;
    const step = this.completed(code).finally(() => {
      this.completing = undefined;
    });
    this.completing = { code, step };
    return step;
  }

  private async completed(code: string): Promise<Step> {
    const former = this.session.tokens;
    const deviceToken = this.devices.of(elsewhere);
    const body = { code, ...(deviceToken !== undefined && { device_token: deviceToken }) };
    try {
      const answer = await dataOf(loginExternally({ client: this.client, body, ...withCookies }));
      this.forget();
      this.session.close();
      this.entered(answer, elsewhere);
      this.setAside.remove();
      // The browser was signed in, perhaps as somebody else.
      if (former !== undefined) void this.signOuts.end(former.refresh).catch(() => undefined);
    } catch (error) {
      if (!this.resumed(elsewhere, error)) throw error;
    } finally {
      this.changed();
    }
    return this.current.step;
  }

  // One-time code (docs/spec/service.md#4.2, docs/spec/service.md#4.3)

  /** A refused code starts a wait of 10 seconds. The fifth refused code ends the pending login, whatever their types. */
  async verifyCode(code: string, { type, trustDevice = false }: CodeOptions = {}): Promise<void> {
    const pending = this.pending.read();
    if (pending === undefined) throw new RuleError('no-pending-login');
    this.assertNoWait(this.tabWaits, 'code');
    const { uid, mfaToken, username } = pending;
    const body = {
      uid,
      type: type ?? pending.type,
      code: plainCode(code),
      ...(mfaToken !== null && { mfa_token: mfaToken }),
      ...(trustDevice && { trust_device: true }),
    };
    try {
      const answer = await dataOf(verifyOtp({ client: this.client, body }));
      this.devices.keep(username, answer.device_token);
      this.opened(answer);
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
      // A resend checks no code, so this error can only mean that the login is no longer pending.
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

  /**
   * The password change request of a mailed link. `type`: 0 first password, 2 forgotten, 3 expired. `login_name`: the name
   * to sign in with, also for the hidden user name of your form.
   */
  findPasswordChange(uid: string): Promise<LiveRequestResponse> {
    return dataOf(getPasswordChangeRequest({ client: this.client, path: { uid } }));
  }

  passwordPolicy(): Promise<PasswordPolicyResponse> {
    return dataOf(getPasswordPolicy({ client: this.client }));
  }

  /** On success, the SDK removes its stored data, except sign-outs to repeat. The user must log in again. */
  async changePassword(uid: string, password: string, confirmation: string): Promise<void> {
    const body = { req_uid: uid, password, confirm_password: confirmation };
    await dataOf(changePasswordByRequest({ client: this.client, body }));
    this.session.close();
    // The sign-outs stay: a session that the service has not ended yet can belong to another user.
    const own = Object.values(keys).filter((key) => key !== keys.signOuts);
    for (const storage of this.storages) for (const key of own) storage.removeItem(key);
    this.leave('password-changed');
  }

  // Session (docs/spec/service.md#4.6, docs/spec/service.md#4.7)

  me(): Promise<MeResponse> {
    return this.session.authorised((auth) => dataOf(getCurrentUser({ client: this.client, auth })));
  }

  /**
   * For the portal's own requests. After a 401 of this service, `call` is repeated once with a new access token. Where the token
   * is bound (`bound`), a request needs a proof as well: use `fetch()` or `headersFor()`.
   */
  authorised<T>(call: (accessToken: string) => Promise<T>): Promise<T> {
    return this.session.authorised(call);
  }

  /**
   * Like the `fetch` of the browser, with the access token and, where it is bound, a proof (RFC 9449). Call only services that
   * may see the token. It is renewed when it is about to expire, and once after a 401, unless it is younger than a minute.
   */
  async fetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    const request = new Request(input, init);
    return this.freshly(async (token, isLast) => {
      const sent = request.clone();
      const headers = await this.proofs.headersFor(sent.url, sent.method, token);
      for (const [name, value] of Object.entries(headers)) sent.headers.set(name, value);
      const { fetcher } = this;
      const answer = await fetcher(sent);
      if (!isLast && answer.status === 401 && this.mayHaveEnded(token, answer)) throw expired();
      return answer;
    });
  }

  /** The headers of one request, for programs that do not use `fetch`. A proof is for this URL and method, and works once. */
  headersFor(url: string, method = 'GET'): Promise<Record<string, string>> {
    return this.freshly((token) => this.proofs.headersFor(url, method, token));
  }

  /** The tokens of this session work with the key of this browser only. */
  get bound(): boolean {
    const { tokens } = this.session;
    return tokens !== undefined && isBound(tokens.access);
  }

  /** Why tokens cannot be bound to a key here, or undefined. It matters where `capabilities().token_binding` is `required`. */
  keyProblem(): Promise<KeyProblem | undefined> {
    return this.proofs.problem();
  }

  private freshly<T>(call: (token: string, isLast: boolean) => Promise<T>): Promise<T> {
    let calls = 0;
    return this.session.authorised((token) => {
      const isLast = ++calls > 1;
      if (!isLast && this.proofs.isDue(token)) throw expired();
      return call(token, isLast);
    });
  }

  /** A refresh does not help where the user has to prove more (RFC 9470). */
  private mayHaveEnded(token: string, { headers }: Response): boolean {
    const wantsMore = headers.get('www-authenticate')?.includes('insufficient_user_authentication') === true;
    return !wantsMore && (token !== this.session.tokens?.access || this.proofs.isOld(token));
  }

  /**
   * Runs a generated operation with the connection, the language and the tokens of this object:
   * `auth.call((options) => listUsers(options))`. Returns the whole body of the answer.
   */
  async call<T>(operation: Operation<T>, { signal, timeoutMs }: CallOptions = {}): Promise<T> {
    const client = timeoutMs === undefined ? this.client : this.clientWith(timeoutMs);
    try {
      return await this.session.authorised((auth) =>
        answerOf(operation({ client, auth, ...(signal !== undefined && { signal }) })),
      );
    } catch (error) {
      // The generated client reports an aborted request like a missing answer.
      signal?.throwIfAborted();
      throw error;
    }
  }

  /**
   * Signs out locally even if the service does not answer. In that case the notice is `logout-unheard`, and the SDK
   * repeats the request: when the browser is online again, every 30 s, and when the page is opened the next time.
   */
  async logout(): Promise<void> {
    const { tokens } = this.session;
    this.session.close();
    this.forget();
    this.changed();
    // The access token may have expired, so the refresh token is sent.
    if (tokens !== undefined) await this.signOuts.end(tokens.refresh);
  }

  // Confirming who the user is (docs/spec/extensions.md#reauthenticate)

  /**
   * Runs an action that may need a fresh login. If the service answers AUTH_403002, the user is asked, and the action runs
   * once more. It must be one that can run again: nothing of it has happened. Actions that are refused at once ask once.
   * @param ask asks the user; default: what `onFreshLogin` has registered
   * @throws the refusal of the action when the user cancels, or when there is nobody to ask
   */
  withFreshLogin<T>(action: () => Promise<T>, ask?: AskFreshLogin): Promise<T> {
    return this.confirmations.fresh(action, ask);
  }

  /**
   * Registers what asks the user, usually a dialog of the page that calls `reauthenticate()`.
   * @returns the function that ends the registration
   */
  onFreshLogin(ask: AskFreshLogin): () => void {
    this.confirmations.ask = ask;
    return () => {
      if (this.confirmations.ask === ask) this.confirmations.ask = undefined;
    };
  }

  /**
   * Confirms who the user is, with the password, a passkey, or the code of `/?external=CODE` after a `signInWith()` with `fresh`,
   * for users of an identity provider. The session stays, and its new tokens replace those of all
   * tabs. A wrong password is LOGIN_401001 and signs nobody out.
   * @returns the code that is due as well, or undefined when the session is confirmed
   */
  reauthenticate(proof: Proof): Promise<ConfirmationCode | undefined> {
    return this.confirmations.confirm(proof);
  }

  // The user's own account (docs/spec/extensions.md#a)

  /**
   * Resolves when the new token pair is stored. All tabs of this browser stay signed in; every other session, pending
   * login and trusted device of the user has ended. A wrong current password is LOGIN_401001 and signs nobody out.
   */
  async changeOwnPassword(change: OwnPasswordChange): Promise<void> {
    this.assertNoWait(this.tabWaits, 'password');
    try {
      await this.account.changePassword(change);
    } catch (error) {
      this.waitAsTold(this.tabWaits, 'password', error);
      throw error;
    } finally {
      this.changed();
    }
  }

  /** The sessions that have not ended, the newest first. */
  sessions(): Promise<OwnSession[]> {
    return this.account.sessions();
  }

  /** Ends a session of another browser. For the current session use `logout()`. */
  endSession(sid: string): Promise<void> {
    return this.account.endSession(sid);
  }

  /** @returns how many sessions have ended */
  endOtherSessions(): Promise<number> {
    return this.account.endOtherSessions();
  }

  /** The last logins, the newest first. `limit`: 1 to 100, default 20. */
  loginHistory(limit?: number): Promise<PastLogin[]> {
    return this.account.loginHistory(limit);
  }

  recoveryCodes(): Promise<RecoveryCodeSummary> {
    return this.account.recoveryCodes();
  }

  /**
   * Makes new recovery codes; the earlier codes no longer work. The SDK neither stores nor logs the codes, so the page
   * must show them now. AUTH_403002: the login is too old, and the user must log in again first.
   */
  makeRecoveryCodes(): Promise<string[]> {
    return this.account.makeRecoveryCodes();
  }

  /** The devices on which a login needs no code, the last used one first. */
  trustedDevices(): Promise<TrustedDevice[]> {
    return this.account.trustedDevices();
  }

  endTrustedDevice(id: string): Promise<void> {
    return this.account.endTrustedDevice(id);
  }

  /** The next login of each user in this browser needs a code again. `logout()` keeps the trust. */
  forgetThisDevice(): void {
    this.devices.clear();
  }

  // The user's passkeys (docs/spec/extensions.md#b)

  passkeys(): Promise<Passkey[]> {
    return this.ownPasskeys.list();
  }

  /** Makes a passkey. AUTH_403002: the login is too old, and the user must log in again first. */
  registerPasskey(name: string): Promise<NewPasskey> {
    return this.ownPasskeys.register(name);
  }

  renamePasskey(id: string, name: string): Promise<void> {
    return this.ownPasskeys.rename(id, name);
  }

  /** AUTH_403002: the login is too old, and the user must log in again first. */
  removePasskey(id: string): Promise<void> {
    return this.ownPasskeys.remove(id);
  }

  // Authenticator (docs/spec/service.md#4.4, docs/spec/service.md#4.5)

  /**
   * Starts an enrolment, or starts it again.
   * @param currentCode code of the active authenticator. The service requires it to replace that authenticator, unless
   *   the session is young (docs/spec/extensions.md#young-session).
   */
  async startEnrolment(currentCode?: string): Promise<void> {
    // The later requests need a valid access token, because the service answers an expired token like a wrong code.
    const { tokens } = this.session;
    if (tokens !== undefined) await this.session.refresh(tokens.access);
    const { uid, login_name: loginName } = await this.me();
    const body = currentCode === undefined ? {} : { code: plainCode(currentCode) };
    const { secret, uri } = await this.session.authorised((auth) =>
      dataOf(createTotpSecret({ client: this.client, auth, body })),
    );
    this.enrolling = { uid, loginName, secret, uri, failures: 0 };
    this.changed();
  }

  /** The PNG image. The page cannot use its URL, because an `<img>` sends no bearer token. */
  async enrolmentQrCode(): Promise<Blob> {
    const uid = this.enrolment().uid;
    return this.session.authorised((auth) =>
      answerOf<Blob>(getOtpQrCode({ client: this.client, auth, path: { uid }, parseAs: 'blob' })),
    );
  }

  /**
   * The first accepted code activates the authenticator, and ends the trust in all devices of the user. `trustDevice`
   * trusts this device again. Refused codes count as they do at the login.
   */
  async confirmEnrolment(code: string, { trustDevice = false }: Pick<CodeOptions, 'trustDevice'> = {}): Promise<void> {
    const enrolment = this.enrolment();
    this.assertNoWait(this.tabWaits, 'code');
    const { uid, loginName } = enrolment;
    const body = { uid, type: 'totp' as const, code: plainCode(code), ...(trustDevice && { trust_device: true }) };
    try {
      const former = this.session.tokens;
      const answer = await this.session.authorised((auth) => dataOf(verifyOtp({ client: this.client, auth, body })));
      this.devices.keep(loginName, answer.device_token);
      this.opened(answer);
      // The service opens a new session with the second factor, so the former session is revoked.
      if (former !== undefined) void this.signOuts.end(former.refresh).catch(() => undefined);
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
    this.enrolling = failures >= clientRules.codeFailures ? undefined : { ...enrolment, failures };
    if (this.enrolling !== undefined) this.tabWaits.start('code', clientRules.codeWaitSeconds);
  }

  cancelEnrolment(): void {
    this.enrolling = undefined;
    this.changed();
  }

  private enrolment(): Enrolment {
    const enrolment = this.enrolling;
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
    this.enrolling = undefined;
    this.confirmations.forget();
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
    const coded = pending?.uid ?? this.confirmations.uid;
    return {
      step: this.step(pending),
      enrolment: this.session.tokens === undefined ? undefined : this.enrolling,
      waiting: {
        login: this.tabWaits.remaining('login'),
        code: this.tabWaits.remaining('code'),
        password: this.tabWaits.remaining('password'),
        resend: coded === undefined ? 0 : this.sharedWaits.remaining(resendOf(coded)),
        forgot: this.sharedWaits.remaining('forgot'),
        passkey: this.tabWaits.remaining('passkey'),
      },
      tabOnly: this.storages.some((storage) => storage.inMemory(keys.session)),
    };
  }

  /** Reads the storages each time, so that a login or logout in another tab takes effect here at once. */
  private step(pending: PendingLogin | undefined): Step {
    if (this.session.tokens !== undefined) return { kind: 'signed-in' };
    if (pending !== undefined) {
      const { type, loginName, email, failures, resumed } = pending;
      return { kind: 'code', type, loginName, email, attemptsLeft: clientRules.codeFailures - failures, resumed };
    }
    if (this.forcedUid !== undefined) return { kind: 'password-change', uid: this.forcedUid };
    const notice = this.notice ?? (this.signOuts.unheard ? 'logout-unheard' : undefined);
    return { kind: 'signed-out', ...(notice !== undefined && { notice }) };
  }

  /** Updates the snapshot when the next second of a wait is over. */
  private tick(): void {
    this.stopTicking();
    const uid = this.pending.read()?.uid ?? this.confirmations.uid;
    const seconds = [
      this.tabWaits.untilNextSecond('login'),
      this.tabWaits.untilNextSecond('code'),
      this.tabWaits.untilNextSecond('password'),
      this.tabWaits.untilNextSecond('passkey'),
      this.sharedWaits.untilNextSecond('forgot'),
      uid === undefined ? undefined : this.sharedWaits.untilNextSecond(resendOf(uid)),
    ].filter((left) => left !== undefined);
    if (seconds.length > 0) this.stopTicking = this.clock.after(Math.min(...seconds), () => this.changed());
  }
}

/** In place of the typed name, where an identity provider tells who the user is. No login name begins with a space. */
const elsewhere = ' elsewhere';

/** As the service says it of a token that has ended. */
const expired = () => new ServiceError('AUTH_401002', 'the token has to be renewed', 401, undefined, {});

/** No secret: it only differs from that of the other tabs. `crypto` is incomplete or missing on http and in React Native. */
const leaseOwner = (): string => `${Math.random()}${Math.random()}`;

function browserLocks(): Locks | null {
  return (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks ?? null;
}
