/** What the model remembers, what is asked, and what the tables hold. Times are whole seconds. */
export interface User {
  readonly name: string;
  readonly uid: string;
  email: string | null;
  status: number;
  admin: boolean;
  erased: boolean;
  /** The place where the user signs in. */
  provider: 'password' | 'oidc';
  /** The `external_id`, by which the first sign-in of this person at the identity provider finds the user. */
  person: number | null;
  /** Counts what ends everything that was issued before: a new password, a new status or right, a revocation. */
  epoch: number;
  failed: number;
  failedAt: number | null;
  successAt: number | null;
  readonly createdAt: number;
  enabledAt: number | null;
  /** All passwords that were set, the current one last. */
  passwords: { text: string; type: number; at: number }[];
  temporary: boolean;
  mfaType: 'email' | 'totp';
  secret: string | null;
  lastStep: number;
  wrongCodes: number;
  blockedUntil: number | null;
  recovery: string[];
  otpUntil: number;
  resetUntil: number;
  pending: Pending | null;
  enrolment: Enrolment | null;
}

export interface Pending {
  readonly id: string;
  readonly token: string;
  readonly channel: 'email' | 'totp';
  readonly ip: string;
  readonly until: number;
  readonly epoch: number;
  /** The sign-in at the identity provider that has led to it. */
  readonly origin: Origin | null;
  code: string | null;
  codeUntil: number;
  attempts: number;
  closed: boolean;
}

export interface Enrolment {
  readonly id: string;
  readonly secret: string;
  /** Null when the user has left before the confirmation. */
  sid: string | null;
  until: number;
  attempts: number;
  confirmed: boolean;
}

export interface Session {
  readonly sid: string;
  readonly user: number;
  readonly epoch: number;
  readonly amr: string[];
  readonly startedAt: number;
  /** The last check of a credential. */
  readonly checkedAt: number;
  readonly end: number;
  ended: boolean;
  /** Whether the application was told that this session has signed in there. */
  atApplication: boolean;
}

export interface Token {
  readonly jti: string;
  readonly use: 'access' | 'refresh';
  readonly sid: string;
  readonly createdAt: number;
  readonly expires: number;
  successor: string | null;
  succeededAt: number | null;
}

export interface Link {
  readonly uid: string;
  readonly token: string;
  readonly user: number;
  readonly type: number;
  readonly epoch: number;
  readonly createdAt: number;
  readonly expires: number;
  used: boolean;
}

export interface Device {
  readonly id: string;
  readonly user: number;
  readonly epoch: number;
  readonly createdAt: number;
  /** The current token is the last one. */
  tokens: string[];
  replacedAt: number;
  lastUsedAt: number;
  ended: boolean;
}

/** The answer of the identity provider to a sign-in. */
export interface Origin {
  readonly person: number;
  readonly answeredAt: number;
  /** When it asked the person last. */
  readonly askedAt: number;
}

/** The code of a sign-in at the identity provider. */
export interface ExternalCode {
  readonly value: string;
  readonly user: number;
  readonly origin: Origin;
  readonly expires: number;
  used: boolean;
}

/** The user that a person of the identity provider is in this service. */
export interface Binding {
  readonly person: number;
  readonly user: number;
  signedOutAt: number | null;
}

/** What a user has allowed to the application. A code or a token without its grant does not count. */
export interface Grant {
  readonly id: string;
  readonly user: number;
  readonly epoch: number;
  readonly createdAt: number;
  expires: number;
}

/** A code or a token of the application. */
export interface AppRecord {
  readonly kind: 'AuthorizationCode' | 'AccessToken' | 'RefreshToken';
  readonly value: string;
  grant: string;
  readonly user: number;
  readonly sid: string;
  /** With `offline_access`, tokens outlive the session. A code never does. */
  readonly offline: boolean;
  readonly expires: number;
  used: boolean;
}

export interface State {
  now: number;
  users: User[];
  /** One application, which the members of one group may use. */
  application: { enabled: boolean; members: number[] };
  grants: Grant[];
  records: AppRecord[];
  /** One identity provider. The claims of its person n have the login name and the address of user n. */
  provider: { readonly id: string; exists: boolean; enabled: boolean };
  bindings: Binding[];
  externalCodes: ExternalCode[];
  offboardings: { user: number; restored: boolean }[];
  sessions: Session[];
  tokens: Token[];
  links: Link[];
  devices: Device[];
  /** What the last step has sent and logged. */
  mails: { user: number; kind: string; secret: string | null; open: boolean | null }[];
  logs: { user: number; outcome: string; mfa: string | null }[];
  names: number;
}

/** A request, with the values that it sends. */
export type Request =
  | { op: 'login'; user: number; password: string; device?: string }
  | {
      op: 'verify';
      user: number;
      type: string;
      code: string;
      totp?: Totp;
      owner: Owner;
      trust: boolean;
      bearer?: string;
    }
  | { op: 'resend'; user: number; type: string; owner: Owner }
  | { op: 'refresh' | 'logout' | 'me' | 'sessions' | 'endOthers' | 'recoveryCodes' | 'devices'; token: string }
  | { op: 'endSession'; token: string; sid: string }
  | { op: 'removeDevice'; token: string; id: string }
  | { op: 'enrol'; token: string; code?: string; totp?: Totp }
  | { op: 'forgot'; user: number }
  | { op: 'look'; link: string }
  | { op: 'submit'; link: string; password: string; confirm: string }
  | { op: 'change'; token: string; current: string; password: string; confirm: string }
  | { op: 'admin'; by: string | null; user: number; action: AdminAction }
  | { op: 'signInAtApplication'; token: string; offline: boolean }
  | { op: 'exchange'; code: string }
  | { op: 'refreshOfApplication' | 'userinfo' | 'revocation'; presented: string }
  | { op: 'endGrant'; token: string; id: string }
  | { op: 'application'; enabled: boolean }
  | { op: 'scimCreate'; name: string }
  | { op: 'scim'; user: number; action: ScimAction }
  | { op: 'member'; user: number; joins: boolean }
  | { op: 'signInAtProvider'; person: number; age: number }
  | { op: 'redeem'; code: string; device?: string }
  | { op: 'move'; user: number; to: User['provider'] }
  | { op: 'provider'; action: ProviderAction }
  | { op: 'logoutAtProvider'; person: number };

export type ProviderAction = 'disable' | 'enable' | 'delete';
export type ScimAction = 'disable' | 'enable' | 'delete';

export type AdminAction =
  AdminPost | { status: number } | { is_admin: boolean } | { mfa_type: 'email' | 'totp' } | { email: string };
export type AdminPost =
  | 'unlock'
  | 'revoke-sessions'
  | 'reset-second-factor'
  | 'require-password-change'
  | 'invite'
  | 'send-reset-link'
  | 'erase';

/** Who asks: the `mfa_token` that is sent, if any, and the address of the client. */
export interface Owner {
  readonly mfaToken?: string;
  readonly ip: string;
}

/** The secret and the time step to which a code of an authenticator belongs. */
export interface Totp {
  readonly secret: string;
  readonly step: number;
}

/** `success` or the error code, and the fields of the answer that the specification determines. */
export type Answer = { readonly code: string } & Readonly<Record<string, unknown>>;

export type Rows = Record<string, object[]>;

/** What the tables hold, by the values that the specification names. */
export function rowsOf(state: State): Rows {
  const { users, sessions, tokens, links, devices, mails, logs } = state;
  const live = (sid: string) => {
    const { ended, epoch, user } = sessions.find((one) => one.sid === sid)!;
    return !ended && epoch === users[user]!.epoch;
  };
  const isOpen = ({ used, epoch, user }: Link) => !used && epoch === users[user]!.epoch;
  return {
    users: users.map((u, user) => ({
      user,
      ...{
        provider: u.provider,
        email: u.email,
        status: u.status,
        is_admin: u.admin,
        must_change_password: u.temporary,
      },
      ...{ login_failed_count: u.failed, last_login_failed_time: u.failedAt, last_login_success_time: u.successAt },
      ...{ mfa_type: u.mfaType, has_secret: u.secret !== null },
      ...{ mfa_failed_count: u.wrongCodes, mfa_blocked_until: u.blockedUntil, recovery_codes: u.recovery.length },
    })),
    login_tokens: tokens.map((t) => ({
      ...{ jti: t.jti, token_type: t.use, sid: t.sid, expires: t.expires, successor: t.successor, live: live(t.sid) },
      user: sessions.find(({ sid }) => sid === t.sid)!.user,
    })),
    links: links.map((l) => ({
      uid: l.uid,
      token: l.token,
      user: l.user,
      type: l.type,
      expires: l.expires,
      open: isOpen(l),
    })),
    pending_logins: users.flatMap(({ pending: p, epoch }, user) =>
      p === null
        ? []
        : [{ user, channel: p.channel, attempts: p.attempts, expires: p.until, open: !p.closed && p.epoch === epoch }],
    ),
    totp_secrets: users.flatMap(({ enrolment: e }, user) =>
      e === null ? [] : [{ user, sid: e.sid, confirmed: e.confirmed, attempts: e.attempts }],
    ),
    trusted_devices: devices.map((d) => ({
      ...{ id: d.id, user: d.user, token: d.tokens.at(-1)!, last_used_at: d.lastUsedAt },
      live: !d.ended && d.epoch === users[d.user]!.epoch,
    })),
    passwords: users.flatMap(({ passwords }, user) => passwords.map(({ type, at }) => ({ user, type, at }))),
    mails: mails.map(({ user, kind, secret }) => {
      const link = links.find(({ token }) => token === secret);
      return { user, kind, secret, open: link === undefined ? null : isOpen(link) };
    }),
    login_logs: logs,
    ...applicationRowsOf(state, live),
    members: state.application.members.map((user) => ({ user })),
    offboardings: state.offboardings.map((one) => ({ ...one })),
    bindings: state.bindings.map(({ person, user }) => ({ person, user, uid: users[user]!.uid })),
    external_codes: state.externalCodes
      .filter(({ used, expires, user }) => !used && expires > state.now && !users[user]!.erased)
      .map(({ user, expires }) => ({ user, expires })),
  };
}

/** Only the grants of the present credential version, and the codes and tokens of these grants. */
function applicationRowsOf({ users, sessions, grants, records }: State, live: (sid: string) => boolean): Rows {
  const counting = grants.filter(({ user, epoch }) => epoch === users[user]!.epoch);
  const kept = records.filter(({ grant }) => counting.some(({ id }) => id === grant));
  return {
    grants: counting.map(({ id, user }) => ({ id, user })),
    records: kept.map((one) => {
      const { kind, value, user, sid, expires, used } = one;
      const ofSession = kind === 'AuthorizationCode' || !one.offline;
      return { kind, value, user, sid: ofSession ? sid : null, expires, used, live: !ofSession || live(sid) };
    }),
    application_logouts: sessions
      .filter(({ ended, atApplication }) => ended && atApplication)
      .map(({ sid, user }) => ({ sid, user })),
  };
}
