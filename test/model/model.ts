import {
  accessTtl,
  codeBlock,
  codeTtl,
  deviceGrace,
  done,
  enrolmentTtl,
  inviteTtl,
  linkTtl,
  maxAttempts,
  maxWrongCodes,
  otpCooldown,
  passwordTtl,
  pendingTtl,
  type Of,
  refused,
  resetThrottle,
  rotationGrace,
  type Steps,
  success,
} from './rules';
import { Providers } from './providers';
import type { AdminAction, Answer, Link, Origin, Pending, Request, Session, State, Token, User } from './state';

export interface Settings {
  readonly mfaRequired: boolean;
  readonly rotation: boolean;
}

/**
 * The specification as a program (docs/spec): what each request answers, and what the tables then hold. It is written
 * from the text and imports nothing of the service. One method for each operation; the order of its lines is the order
 * of the checks. `yield` marks the places between which the specification lets another request in: a password or a code
 * is compared, and a guarded write decides afterwards (docs/spec/decisions.md#lock).
 *
 * Times are whole seconds. The service chooses identifiers, tokens and codes. In the model they are new names (`?1`),
 * until the answers and the rows tell which value the service has chosen.
 */
export class Model extends Providers {
  constructor(
    state: State,
    private readonly settings: Settings,
  ) {
    super(state);
  }

  run(request: Request): Steps {
    return (this[request.op] as (request: Request) => Steps).call(this, request);
  }

  /** docs/spec/decisions.md#2: user, lock, credential, lock again, status, branch. */
  private *login({ user, password, device }: Of<'login'>): Steps {
    const u = this.user(user);
    const read = structuredClone(u);
    if (u.erased) return refused('LOGIN_404001');
    if (this.isLocked(u)) return this.failedLogin(user, 'LOGIN_401004');
    yield;
    if (this.isLocked(u)) return this.failedLogin(user, 'LOGIN_401004');
    if (password !== read.passwords.at(-1)?.text) {
      this.countFailure(u);
      return this.failedLogin(user, 'LOGIN_401001');
    }
    const problem = this.statusProblem(u) ?? (u.epoch === read.epoch ? null : 'LOGIN_401001');
    if (problem !== null) return this.failedLogin(user, problem);
    u.failed = 0;
    u.successAt = this.now;
    yield;
    const due = this.dueChange(read);
    if (due !== null) {
      const link = this.openLink(user, due, linkTtl, read.epoch);
      return success({
        change_password: true,
        mfa_required: false,
        change_uid: link.token,
        access: null,
        mfa_token: null,
      });
    }
    return yield* this.enter(user, read, device);
  }

  protected *enter(user: number, read: User, device?: string, origin: Origin | null = null): Steps {
    if (!this.settings.mfaRequired) return this.loggedIn(user, read, null, { device_token: null }, origin);
    const trusted = device === undefined ? undefined : yield* this.loginByDevice(user, read, device, origin);
    return trusted ?? (yield* this.challenge(user, read, origin));
  }

  private dueChange({ temporary, passwords }: User): number | null {
    if (temporary) return 0;
    return passwords.at(-1)!.at + passwordTtl < this.now ? 3 : null;
  }

  /** docs/spec/extensions.md#trusted-devices */
  private *loginByDevice(
    user: number,
    read: User,
    token: string,
    origin: Origin | null,
  ): Generator<void, Answer | undefined> {
    const device = this.state.devices.find((one) => one.user === user && one.tokens.includes(token));
    if (device === undefined || !this.isTrusted(device) || device.epoch !== read.epoch) return undefined;
    yield;
    if (!this.isTrusted(device)) return undefined;
    const isCurrent = device.tokens.at(-1) === token;
    if (!isCurrent && (device.tokens.at(-2) !== token || this.now - device.replacedAt > deviceGrace)) {
      device.ended = true;
      return undefined;
    }
    if (origin !== null && !this.isVouched(user, origin)) return this.failedLogin(user, 'LOGIN_401013');
    if (isCurrent) {
      device.tokens.push(this.name());
      device.replacedAt = this.now;
    }
    device.lastUsedAt = this.now;
    return this.loggedIn(user, read, 'device', { device_token: device.tokens.at(-1) }, origin);
  }

  /** docs/spec/decisions.md#pending-login and #codes */
  private *challenge(user: number, read: User, origin: Origin | null): Steps {
    const u = this.user(user);
    yield;
    const channel = read.mfaType === 'totp' && read.secret !== null ? 'totp' : 'email';
    if (channel === 'email') {
      if (u.otpUntil > this.now) return this.failedLogin(user, 'MFA_429001', { retry_after: u.otpUntil - this.now });
      if (u.status !== 1 || u.epoch !== read.epoch) return this.failedLogin(user, 'LOGIN_401001');
    }
    const until = this.now + pendingTtl;
    const base = { id: this.key(), token: this.name(), ip: '127.0.0.1', epoch: read.epoch, origin };
    u.pending = { ...base, channel, until, code: null, codeUntil: 0, attempts: 0, closed: false };
    if (channel === 'email') this.sendCode(user, u.pending);
    return success({ mfa_required: true, mfa_type: channel, mfa_token: base.token, access: null, device_token: null });
  }

  private sendCode(user: number, pending: Pending): void {
    this.user(user).otpUntil = this.now + otpCooldown;
    pending.code = this.name();
    pending.codeUntil = Math.min(this.now + codeTtl, pending.until);
    this.mail(user, 'otp', pending.code);
  }

  private *verify(request: Of<'verify'>): Steps {
    const { user, type, owner } = request;
    const refusal = refused(type === 'email' ? 'MFA_401001' : 'AUTH_MFA_401001');
    const u = this.user(user);
    const pending = this.pendingOf(user, owner);
    const enrolment = type === 'totp' ? this.enrolmentOf(user, request.bearer) : undefined;
    const read = structuredClone(u);
    const login = type === 'recovery' || pending?.channel === type ? pending : undefined;
    if ((login ?? enrolment) === undefined || this.isBlocked(u)) return refusal;
    yield;
    // The attempt is reserved before the code is compared.
    const isOpen = enrolment
      ? () => this.isOpenEnrolment(u, read.enrolment!)
      : () => this.isOpenLogin(u, read.pending!);
    if (!isOpen()) return refusal;
    (enrolment === undefined ? u.pending! : u.enrolment!).attempts += 1;
    yield;
    if (!this.reserveCode(u)) return refusal;
    yield;
    const accepted = login && this.acceptLogin(request, read);
    const answer = accepted ?? (enrolment && this.confirmEnrolment(request, read, enrolment));
    if (answer === undefined) this.log(user, refusal.code, type);
    else if (accepted?.code === 'success' && enrolment && this.isOpenEnrolment(u, read.enrolment!))
      u.enrolment!.attempts -= 1;
    return answer ?? refusal;
  }

  /** One of the 10 wrong codes of the account. The last one blocks all codes for 900 s. */
  private reserveCode(u: User): boolean {
    if (this.isBlocked(u)) return false;
    u.wrongCodes += 1;
    if (u.wrongCodes >= maxWrongCodes) Object.assign(u, { wrongCodes: 0, blockedUntil: this.now + codeBlock });
    return true;
  }

  private acceptLogin({ user, type, code, totp, trust }: Of<'verify'>, read: User): Answer | undefined {
    const u = this.user(user);
    const was = read.pending!;
    const isRight =
      type === 'email'
        ? code === was.code && was.codeUntil > this.now && u.pending?.code === was.code
        : type === 'recovery'
          ? u.recovery.includes(code)
          : this.isNewStep(u, totp);
    if (!isRight || !this.isUnchanged(u, read) || u.pending?.id !== was.id || u.pending.closed) return undefined;
    if (was.origin !== null && !this.isVouched(user, was.origin)) {
      this.log(user, 'LOGIN_401013', type);
      return refused('LOGIN_401013');
    }
    if (type === 'totp') u.lastStep = totp!.step;
    if (type === 'recovery') {
      u.recovery = u.recovery.filter((one) => one !== code);
      this.mail(user, 'recovery-code-used');
    }
    u.pending.closed = true;
    Object.assign(u, { wrongCodes: 0, blockedUntil: null });
    return this.loggedIn(user, read, type, { device_token: trust ? this.trust(user) : null }, was.origin);
  }

  /** docs/spec/decisions.md#enrolment: the first right code of the new secret. */
  private confirmEnrolment(request: Of<'verify'>, read: User, session: Session): Answer | undefined {
    const { user, totp, trust } = request;
    const u = this.user(user);
    const was = read.enrolment!;
    const isRight = totp?.secret === was.secret && Math.abs(totp.step - this.step) <= 1;
    const isOpen = u.enrolment?.id === was.id && !u.enrolment.confirmed && this.isLive(session);
    if (!isRight || !isOpen || !this.isUnchanged(u, read)) return undefined;
    Object.assign(u, { wrongCodes: 0, blockedUntil: null, secret: was.secret, mfaType: 'totp', lastStep: totp.step });
    u.enrolment!.confirmed = true;
    if (u.pending) u.pending.closed = true;
    this.endDevices(user);
    this.mail(user, 'totp-changed');
    const device_token = trust ? this.trust(user) : null;
    // The session begins and ends with the one that enrols. The code counts as a check, and as a factor, only of a login that
    // was just made (docs/adr/0008-second-factor.md).
    const { startedAt, end, amr } = session;
    const checkedAt = this.isYoung(session) ? this.now : session.checkedAt;
    const proven = this.isYoung(session) && !amr.includes('device') && !amr.includes('otp') ? [...amr, 'otp'] : amr;
    // It is no login, so there is no log row.
    return success({ ...this.open(user, u.epoch, proven, { startedAt, checkedAt, end }), device_token });
  }

  private *resend({ user, type, owner }: Of<'resend'>): Steps {
    if (type !== 'email') return refused('MFA_400001');
    const u = this.user(user);
    const pending = this.pendingOf(user, owner);
    if (pending?.channel !== 'email') return refused('MFA_401001');
    const { id } = pending;
    yield;
    if (u.otpUntil > this.now) return refused('MFA_429001', { retry_after: u.otpUntil - this.now });
    const now = u.pending;
    if (now?.id !== id || now.closed || now.attempts >= maxAttempts) return refused('MFA_401001');
    this.sendCode(user, now);
    return success({ result: true, retry_after: otpCooldown });
  }

  /** docs/spec/decisions.md#4, rotation. */
  private *refresh({ token }: Of<'refresh'>): Steps {
    const t = this.token(token);
    const problem = () => t.use !== 'refresh' || this.problemOf(t) !== null;
    if (problem()) return refused('AUTH_401006');
    yield;
    if (problem()) return refused('AUTH_401006');
    if (!this.settings.rotation) return success(this.refreshed(t, t.jti));
    if (t.successor === null) {
      const next = this.addToken(t.sid, 'refresh', t.expires);
      Object.assign(t, { successor: next, succeededAt: this.now });
      return success(this.refreshed(t, next));
    }
    const inGrace = this.now - t.succeededAt! <= rotationGrace;
    if (inGrace && this.token(t.successor).successor === null) return success(this.refreshed(t, t.successor));
    this.session(t.sid).ended = true;
    return refused('AUTH_401006');
  }

  private refreshed({ sid, expires: end }: Token, refresh: string): object {
    const expires = Math.min(this.now + accessTtl, end);
    const { amr } = this.session(sid);
    return { access: this.addToken(sid, 'access', expires), refresh, sid, amr, expires_in: expires - this.now };
  }

  private *logout({ token }: Of<'logout'>): Steps {
    const t = this.token(token);
    const problem = this.problemOf(t);
    if (problem !== null) return refused(problem);
    yield;
    this.session(t.sid).ended = true;
    return done;
  }

  private *me({ token }: Of<'me'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    const { user, sid, amr } = own;
    const { uid, name, email, admin, mfaType, recovery, passwords, provider } = this.user(user);
    const identity_provider = provider === 'oidc' ? this.state.provider.id : null;
    const account = { uid, login_name: name, email, is_admin: admin, mfa_type: mfaType, identity_provider };
    const expires = provider === 'oidc' ? null : passwords.at(-1)!.at + passwordTtl;
    return success({ ...account, recovery_codes_left: recovery.length, password_expires_at: expires, sid, amr });
  }

  private *sessions({ token }: Of<'sessions'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    yield;
    const listed = this.liveSessions(own.user).map(({ sid, startedAt, amr }) => {
      const uses = this.state.tokens.filter((one) => one.sid === sid).map(({ createdAt }) => createdAt);
      return { sid, created_at: startedAt, last_used_at: Math.max(startedAt, ...uses), amr, current: sid === own.sid };
    });
    return success({ sessions: listed });
  }

  private *endSession({ token, sid }: Of<'endSession'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    yield;
    if (!this.isLive(own)) return refused('AUTH_401004');
    const ended = this.liveSessions(own.user).find((one) => one.sid === sid);
    if (ended === undefined) return refused('USER_404001');
    ended.ended = true;
    return success({ result: true, ended: 1 });
  }

  private *endOthers({ token }: Of<'endOthers'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    yield;
    if (!this.isLive(own)) return refused('AUTH_401004');
    const others = this.liveSessions(own.user).filter(({ sid }) => sid !== own.sid);
    this.endSessions(own.user, own.sid);
    return success({ result: true, ended: others.length });
  }

  /** A trusted device does not stand for an authenticator (docs/spec/extensions.md#young-session). */
  private *leavesOutFactor({ user, amr }: Session): Generator<void, boolean> {
    if (!amr.includes('device')) return false;
    yield;
    return this.user(user).secret !== null;
  }

  private *recoveryCodes({ token }: Of<'recoveryCodes'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    if (!this.isYoung(own) || (yield* this.leavesOutFactor(own))) return refused('AUTH_403002');
    yield;
    if (!this.isLive(own)) return refused('AUTH_401004');
    const codes = Array.from({ length: 10 }, () => this.name());
    this.user(own.user).recovery = [...codes];
    this.mail(own.user, 'recovery-codes-made');
    return success({ codes });
  }

  private *devices({ token }: Of<'devices'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    const { user, epoch } = own;
    yield;
    const listed = this.state.devices.filter((one) => one.user === user && one.epoch === epoch && !this.isOver(one));
    return success({
      devices: listed.map(({ id, createdAt, lastUsedAt }) => ({ id, created_at: createdAt, last_used_at: lastUsedAt })),
    });
  }

  private *removeDevice({ token, id }: Of<'removeDevice'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    const { user, epoch } = own;
    yield;
    const device = this.state.devices.find((one) => one.id === id && one.user === user && one.epoch === epoch);
    if (device === undefined || this.isOver(device)) return refused('USER_404001');
    device.ended = true;
    return done;
  }

  /** docs/spec/decisions.md#enrolment: replacing a secret needs a session younger than 300 s, or a code. */
  private *enrol({ token, code, totp }: Of<'enrol'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    yield;
    if (!this.isLive(own)) return refused('AUTH_401004');
    const u = this.user(own.user);
    const read = structuredClone(u);
    const age = this.now - Math.min(own.checkedAt, own.startedAt);
    const isRecent = age < 300 && !own.amr.includes('device');
    const needsCode = u.secret !== null && !isRecent;
    if (needsCode) {
      if (code === undefined || this.isBlocked(u)) return refused('AUTH_MFA_401001');
      yield;
      if (!this.reserveCode(u)) return refused('AUTH_MFA_401001');
      const isRight = this.isNewStep(u, totp);
      yield;
      if (!isRight || !this.isNewStep(u, totp)) return refused('AUTH_MFA_401001');
    }
    yield;
    if (!this.isUnchanged(u, read)) return refused('AUTH_MFA_401001');
    if (needsCode) Object.assign(u, { lastStep: totp!.step, wrongCodes: 0, blockedUntil: null });
    const secret = this.name();
    const { sid } = own;
    u.enrolment = { id: this.key(), secret, sid, until: this.now + enrolmentTtl, attempts: 0, confirmed: false };
    return success({ secret });
  }

  private *forgot({ user }: Of<'forgot'>): Steps {
    const u = this.user(user);
    if (u.erased || u.status === -1 || u.provider === 'oidc') return refused('AUTH_404002');
    yield;
    if (u.resetUntil > this.now) return refused('AUTH_429002', { retry_after: u.resetUntil - this.now });
    if (u.erased) return refused('AUTH_404002');
    u.resetUntil = this.now + resetThrottle;
    return success(this.summary(this.mailLink(user, 2, linkTtl)));
  }

  private *look({ link: token }: Of<'look'>): Steps {
    const link = this.state.links.find((one) => one.token === token);
    const problem = this.linkProblem(link);
    return problem === null ? success(this.summary(link!)) : refused(problem);
  }

  private summary({ uid, user, type, expires, createdAt }: Link): object {
    return { uid, user_id: this.user(user).uid, type, status: 0, expired: expires, created_at: createdAt };
  }

  /** docs/spec/service.md#4.11 */
  private *submit({ link: token, password, confirm }: Of<'submit'>): Steps {
    if (password !== confirm) return refused('AUTH_401010');
    if (!isAllowed(password)) return refused('AUTH_400007');
    const find = () => this.state.links.find((one) => one.token === token);
    const problem = this.linkProblem(find());
    if (problem !== null) return refused(problem);
    const link = find()!;
    const reused = this.isReused(link.user, password);
    yield;
    const late = this.linkProblem(find());
    if (late !== null) return refused(late);
    if (reused) return refused('AUTH_401009');
    this.setPassword(link.user, password, link.type);
    return done;
  }

  /** docs/spec/extensions.md#change-password */
  private *change({ token, current, password, confirm }: Of<'change'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    const u = this.user(own.user);
    if (u.provider === 'oidc') return refused('AUTH_403001');
    if (password !== confirm) return refused('AUTH_401010');
    if (this.isLocked(u)) return refused('LOGIN_401004');
    const isRight = current === u.passwords.at(-1)?.text;
    const reused = this.isReused(own.user, password);
    yield;
    if (!isRight && !this.isLocked(u)) {
      this.countFailure(u);
      return refused('LOGIN_401001');
    }
    if (this.isLocked(u)) return refused('LOGIN_401004');
    if (u.epoch !== own.epoch || u.status !== 1) return refused('AUTH_401004');
    u.failed = 0;
    if (!isAllowed(password)) return refused('AUTH_400007');
    yield;
    if (reused) return refused(u.epoch === own.epoch ? 'AUTH_401009' : 'AUTH_401004');
    yield;
    if (!this.isLive(own)) return refused('AUTH_401004');
    this.setPassword(own.user, password, 1);
    const { amr, startedAt, end } = own;
    return success(this.open(own.user, u.epoch, amr, { startedAt, end }));
  }

  private setPassword(user: number, text: string, type: number): void {
    const u = this.user(user);
    u.passwords.push({ text, type, at: this.now });
    Object.assign(u, { temporary: false, failed: 0, failedAt: null });
    this.endEverything(user);
    for (const link of this.state.links) if (link.user === user) link.used = true;
    this.mail(user, 'password-changed');
  }

  /** docs/spec/extensions.md#d. Without `by`, an administrator of the root tenant who has just logged in. */
  private *admin({ by, user, action }: Of<'admin'>): Steps {
    const session = by === null ? undefined : this.bearer(by);
    if (typeof session === 'string') return refused(session);
    const caller = session && this.user(session.user);
    if (caller && !caller.admin) return refused('AUTH_403001');
    if (session && (!this.isYoung(session) || (yield* this.leavesOutFactor(session)))) return refused('AUTH_403002');
    const u = this.user(user);
    const losesAccess = action === 'erase' || (typeof action === 'object' && losesAdministration(action));
    if (u.erased) return refused('USER_404001');
    yield;
    if (session && (caller!.epoch !== session.epoch || caller!.status !== 1)) return refused('AUTH_401004');
    if (u === caller && losesAccess) return refused('USER_409002');
    if (u.erased) return refused('USER_404001');
    if (typeof action === 'object') return yield* this.changeUser(user, action);
    if (action === 'unlock') Object.assign(u, { failed: 0, failedAt: null, wrongCodes: 0, blockedUntil: null });
    if (action === 'revoke-sessions') this.endEverything(user);
    if (u.provider === 'oidc' && ofPassword.includes(action)) return refused('AUTH_403001');
    if (action === 'require-password-change') {
      if (!u.temporary) this.mail(user, 'account-changed');
      u.temporary = true;
    }
    if (action === 'erase') this.erase(user);
    if (action === 'reset-second-factor') {
      const devices = this.state.devices.some((device) => device.user === user && !device.ended);
      const had = u.secret !== null || u.mfaType !== 'email' || u.recovery.length > 0 || devices;
      if (had) this.mail(user, 'account-changed');
      Object.assign(u, { secret: null, mfaType: 'email', lastStep: 0, enrolment: null, recovery: [] });
      this.endDevices(user);
    }
    if (action === 'invite' || action === 'send-reset-link') {
      if (u.status === -1) return refused('COMMON_400001');
      if (action === 'invite') this.mailLink(user, 0, inviteTtl);
      else this.mailLink(user, 2, linkTtl);
    }
    return done;
  }

  private *changeUser(user: number, change: Exclude<AdminAction, string>): Steps {
    const u = this.user(user);
    if ('status' in change) {
      if (u.status !== change.status || change.status !== 1) this.endEverything(user);
      if ((u.status === 1) !== (change.status === 1)) this.mail(user, 'account-changed');
      u.status = change.status;
      if (change.status === 1) this.restore(user);
      if (change.status === 1) u.enabledAt = this.now;
    } else if ('is_admin' in change) {
      if (u.admin !== change.is_admin) this.endEverything(user);
      if (u.admin !== change.is_admin) this.mail(user, 'account-changed');
      u.admin = change.is_admin;
    } else if ('mfa_type' in change) {
      if (u.mfaType !== change.mfa_type) this.endDevices(user);
      if (u.mfaType !== change.mfa_type && u.pending) u.pending.closed = true;
      if (u.mfaType !== change.mfa_type) this.mail(user, 'account-changed');
      u.mfaType = change.mfa_type;
    } else {
      // Both addresses are told. What was mailed to the former one ends.
      const moved = u.email !== change.email;
      if (moved) this.mail(user, 'account-changed');
      u.email = change.email;
      if (moved) this.mail(user, 'account-changed');
      for (const link of this.state.links) if (link.user === user) link.used = true;
      if (u.pending) u.pending.closed = true;
    }
    yield;
    // The answer shows the user as another administrator has left it by then.
    if (u.erased) return refused('USER_404001');
    return success({ uid: u.uid, email: u.email, status: u.status, is_admin: u.admin, mfa_type: u.mfaType });
  }
}

/** The default policy, as far as the passwords of the histories can break it. */
const isAllowed = (password: string): boolean => password.length >= 12;

const ofPassword: AdminAction[] = ['require-password-change', 'invite', 'send-reset-link'];

const losesAdministration = (change: Exclude<AdminAction, string>): boolean =>
  ('status' in change && change.status !== 1) || ('is_admin' in change && !change.is_admin);
