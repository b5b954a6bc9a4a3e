import type {
  Answer,
  Device,
  Enrolment,
  Link,
  Origin,
  Owner,
  Pending,
  Request,
  Session,
  State,
  Token,
  Totp,
  User,
} from './state';

export const day = 86_400;
export const lock = { count: 3, seconds: 900 };
export const accessTtl = 900;
export const sessionTtl = 7 * day;
export const rotationGrace = 10;
export const youngSeconds = 300;
export const pendingTtl = 300;
export const codeTtl = 300;
export const otpCooldown = 60;
export const maxAttempts = 5;
export const maxWrongCodes = 10;
export const codeBlock = 900;
export const enrolmentTtl = 300;
export const linkTtl = 1800;
export const inviteTtl = 259_200;
export const resetThrottle = 300;
export const deviceTtl = 30 * day;
export const deviceGrace = 10;
export const passwordTtl = 90 * day;
export const dormancy = 180 * day;
export const history = 3;
export const authorizationCodeTtl = 60;
export const grantTtl = 365 * day;
export const offlineTtl = 30 * day;
export const externalCodeTtl = 60;

export const refused = (code: string, more: object = {}): Answer => ({ code, ...more });
export const success = (more: object = {}): Answer => ({ code: 'success', ...more });
export const done = success({ result: true });

export type Steps = Generator<void, Answer>;
export type Of<Op extends Request['op']> = Extract<Request, { op: Op }>;

/** The conditions of the specification, and the changes that several operations make. */
export abstract class Rules {
  constructor(readonly state: State) {}

  protected open(user: number, epoch: number, amr: string[], more: Partial<Session> = {}): object {
    const sid = this.name();
    const times = { startedAt: this.now, checkedAt: this.now, end: this.now + sessionTtl };
    const session = { ...times, ...more, amr, sid, user, epoch, ended: false, atApplication: false };
    this.state.sessions.push(session);
    const access = this.addToken(sid, 'access', Math.min(this.now + accessTtl, session.end));
    return { access, refresh: this.addToken(sid, 'refresh', session.end), sid, amr };
  }

  /** @param origin the sign-in at the identity provider, whose address the user gets */
  protected loggedIn(user: number, read: User, mfa: string | null, more: object, origin: Origin | null = null): Answer {
    if (origin !== null) {
      if (!this.isVouched(user, origin)) return this.failedLogin(user, 'LOGIN_401013');
      this.follow(user, read, origin);
    }
    this.log(user, 'success', mfa);
    const first = origin === null ? 'pwd' : 'ext';
    const amr = mfa === null ? [first] : [first, mfa === 'device' ? 'device' : 'otp'];
    // A code is a check of this moment. A trusted device is none.
    const asked = origin !== null && (mfa === null || mfa === 'device') ? { checkedAt: origin.askedAt } : {};
    return success({ ...this.open(user, read.epoch, amr, asked), ...more });
  }

  /** Whether the provider still stands for this sign-in. */
  protected abstract isVouched(user: number, origin: Origin): boolean;
  protected abstract follow(user: number, read: User, origin: Origin): void;

  protected addToken(sid: string, use: Token['use'], expires: number): string {
    const jti = this.name();
    this.state.tokens.push({ jti, use, sid, createdAt: this.now, expires, successor: null, succeededAt: null });
    return jti;
  }

  protected openLink(user: number, type: number, ttl: number, epoch = this.user(user).epoch): Link {
    for (const link of this.state.links) if (link.user === user && link.type === type) link.used = true;
    const times = { createdAt: this.now, expires: this.now + ttl };
    const link = { uid: this.name(), token: this.name(), user, type, epoch, ...times, used: false };
    this.state.links.push(link);
    return link;
  }

  protected mailLink(user: number, type: number, ttl: number): Link {
    const link = this.openLink(user, type, ttl);
    this.mail(user, 'reset-link', link.token);
    return link;
  }

  protected trust(user: number): string {
    const times = { createdAt: this.now, lastUsedAt: this.now, replacedAt: 0 };
    const token = this.name();
    this.state.devices.push({
      id: this.name(),
      user,
      epoch: this.user(user).epoch,
      tokens: [token],
      ...times,
      ended: false,
    });
    return token;
  }

  /** A new epoch ends sessions, pending logins, links and devices. */
  protected endEverything(user: number): void {
    this.user(user).epoch += 1;
    if (this.user(user).pending) this.user(user).pending!.closed = true;
    this.endSessions(user);
    this.endDevices(user);
  }

  protected endSessions(user: number, except?: string): void {
    for (const session of this.state.sessions)
      if (session.user === user && session.sid !== except) session.ended = true;
  }

  protected endDevices(user: number): void {
    for (const device of this.state.devices) if (device.user === user) device.ended = true;
  }

  protected erase(user: number): void {
    this.endEverything(user);
    const cleared = { email: null, passwords: [], secret: null, recovery: [], pending: null, enrolment: null };
    const counters = { failed: 0, failedAt: null, wrongCodes: 0, blockedUntil: null, lastStep: 0 };
    const rights = { erased: true, status: -2, admin: false, mfaType: 'email', temporary: false };
    Object.assign(this.user(user), cleared, counters, rights);
    this.state.links = this.state.links.filter((link) => link.user !== user);
    this.state.devices = this.state.devices.filter((device) => device.user !== user);
    this.state.mails = this.state.mails.filter((mail) => mail.user !== user);
    this.state.grants = this.state.grants.filter((grant) => grant.user !== user);
    const { application } = this.state;
    application.members = application.members.filter((member) => member !== user);
    this.unbind(user);
  }

  /** Ends the binding of the user to a person of the identity provider, and the codes of its sign-ins. */
  protected unbind(user: number): void {
    this.state.bindings = this.state.bindings.filter((one) => one.user !== user);
    this.state.externalCodes = this.state.externalCodes.filter((one) => one.user !== user);
  }

  protected isLocked({ failed, failedAt }: User): boolean {
    return failed >= lock.count && failedAt !== null && failedAt > this.now - lock.seconds;
  }

  protected countFailure(u: User): void {
    u.failed += 1;
    u.failedAt = this.now;
  }

  protected statusProblem({ status, successAt, createdAt, enabledAt }: User): string | null {
    if (status === -1) return 'LOGIN_401011';
    if (status !== 1) return 'LOGIN_401012';
    return Math.max(successAt ?? createdAt, enabledAt ?? 0) < this.now - dormancy ? 'LOGIN_401008' : null;
  }

  protected isReused(user: number, password: string): boolean {
    return this.user(user)
      .passwords.slice(-history)
      .some(({ text }) => text === password);
  }

  protected linkProblem(link: Link | undefined): string | null {
    // A user of the identity provider has no password, and so no link.
    if (link === undefined || this.user(link.user).provider === 'oidc') return 'AUTH_401003';
    if (link.used || link.epoch !== this.user(link.user).epoch) return 'AUTH_401007';
    return this.now > link.expires ? 'AUTH_401005' : null;
  }

  protected pendingOf(user: number, { mfaToken, ip }: Owner): Pending | undefined {
    const { pending, status, epoch } = this.user(user);
    if (pending === null || status !== 1 || pending.epoch !== epoch) return undefined;
    const isOwner = mfaToken === undefined ? pending.ip === ip : pending.token === mfaToken;
    return isOwner && this.isOpenLogin(this.user(user), pending) ? pending : undefined;
  }

  protected isOpenLogin({ pending }: User, was: Pending): boolean {
    return pending?.id === was.id && !pending.closed && pending.until > this.now && pending.attempts < maxAttempts;
  }

  /** Returns the session that enrols, if the bearer belongs to it. */
  protected enrolmentOf(user: number, bearer: string | undefined): Session | undefined {
    const { enrolment } = this.user(user);
    const token = bearer === undefined ? undefined : this.token(bearer);
    if (enrolment === null || token === undefined || this.accessProblem(token) !== null) return undefined;
    if (token.sid !== enrolment.sid || !this.isOpenEnrolment(this.user(user), enrolment)) return undefined;
    return this.session(token.sid);
  }

  protected isOpenEnrolment({ enrolment }: User, was: Enrolment): boolean {
    const isSame = enrolment?.id === was.id && !enrolment.confirmed;
    return isSame && enrolment.until > this.now && enrolment.attempts < maxAttempts;
  }

  protected isBlocked({ blockedUntil }: User): boolean {
    return blockedUntil !== null && blockedUntil > this.now;
  }

  protected isNewStep({ secret, lastStep }: User, totp: Totp | undefined): boolean {
    return totp !== undefined && totp.secret === secret && Math.abs(totp.step - this.step) <= 1 && totp.step > lastStep;
  }

  protected isUnchanged(u: User, read: User): boolean {
    return u.status === 1 && u.epoch === read.epoch && u.secret === read.secret;
  }

  protected isTrusted(device: Device): boolean {
    return device.epoch === this.user(device.user).epoch && !this.isOver(device);
  }

  protected isOver({ ended, createdAt }: Device): boolean {
    return ended || this.now >= createdAt + deviceTtl;
  }

  protected isYoung({ checkedAt }: Session): boolean {
    return this.now - checkedAt <= youngSeconds;
  }

  protected isLive({ ended, epoch, user, end }: Session): boolean {
    return !ended && epoch === this.user(user).epoch && this.user(user).status === 1 && end > this.now;
  }

  protected liveSessions(user: number): Session[] {
    return this.state.sessions.filter((session) => session.user === user && this.isLive(session));
  }

  protected problemOf({ sid, expires }: Token): string | null {
    if (expires <= this.now) return 'AUTH_401002';
    return this.isLive(this.session(sid)) ? null : 'AUTH_401004';
  }

  /** The session of an access token, or the error code. */
  protected bearer(token: string): Session | string {
    const t = this.token(token);
    return this.accessProblem(t) ?? this.session(t.sid);
  }

  protected accessProblem(token: Token): string | null {
    return this.problemOf(token) ?? (token.use === 'access' ? null : 'AUTH_401001');
  }

  protected log(user: number, outcome: string, mfa: string | null): void {
    this.state.logs.push({ user, outcome, mfa });
  }

  protected failedLogin(user: number, code: string, more: object = {}): Answer {
    this.log(user, code, null);
    return refused(code, more);
  }

  protected mail(user: number, kind: string, secret: string | null = null): void {
    if (this.user(user).email !== null) this.state.mails.push({ user, kind, secret, open: null });
  }

  protected name(): string {
    return `?${++this.state.names}`;
  }

  /** An identity that the service does not show. */
  protected key(): string {
    return `#${++this.state.names}`;
  }

  protected get now(): number {
    return this.state.now;
  }

  /** The time step of authenticators. */
  protected get step(): number {
    return Math.floor(this.now / 30);
  }

  protected user = (index: number): User => this.state.users[index]!;
  protected session = (sid: string): Session => this.state.sessions.find((one) => one.sid === sid)!;
  protected token = (jti: string): Token => this.state.tokens.find((one) => one.jti === jti)!;
}
