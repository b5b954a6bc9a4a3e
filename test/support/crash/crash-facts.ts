import type { CrashPair } from './crash-pair';

const auditEvents = [
  'USER_RESET_PASSWORD',
  'USER_PASSWORD_CHANGED',
  'USER_STATUS_CHANGED',
  'USER_CHANGED',
  'USER_DELETED',
  'USER_INVITED',
  'USER_UNLOCKED',
  'USER_TOKENS_REVOKED',
  'CURRENT_PASSWORD_WRONG',
  'REFRESH_TOKEN_REUSED',
  'MFA_CODE_SENT',
  'MFA_CODE_WRONG',
  'RECOVERY_CODES_CREATED',
  'RECOVERY_CODE_USED',
  'PASSKEY_ADDED',
] as const;
type Event = (typeof auditEvents)[number];

const mailKinds = {
  codeMails: 'otp',
  linkMails: 'reset-link',
  changeMails: 'password-changed',
  codesMadeMails: 'recovery-codes-made',
  codeUsedMails: 'recovery-code-used',
  passkeyMails: 'passkey-changed',
} as const;

/** The columns of one table about one user. The first name is the column of the user. */
const parts: Readonly<Record<string, readonly [owner: string, columns: Readonly<Record<string, string>>]>> = {
  user_change_pwd_logs: [
    'user_id',
    { history: 'COUNT(*)', historyByLink: 'SUM(type IN (0, 2, 3))', historyByOwner: 'SUM(type = 1)' },
  ],
  login_tokens: [
    'user_identity',
    {
      sessions: 'COUNT(DISTINCT sid)',
      firstTokens: 'SUM(jti = sid)',
      sessionsWithAccess: "COUNT(DISTINCT IF(token_type = 'access', sid, NULL))",
      refreshTokens: "SUM(token_type = 'refresh')",
      successors: 'SUM(successor_jti IS NOT NULL)',
      liveTokens: 'SUM(is_revoked = 0)',
      tokensWithClient: 'SUM(ip IS NOT NULL OR user_agent IS NOT NULL)',
    },
  ],
  login_logs: [
    'user_id',
    {
      loginRows: 'COUNT(*)',
      logins: "SUM(outcome = 'success')",
      loginsByTotp: "SUM(outcome = 'success' AND mfa = 'totp')",
      loginsByRecovery: "SUM(outcome = 'success' AND mfa = 'recovery')",
      wrongPasswords: "SUM(outcome = 'LOGIN_401001')",
      rowsWithName: "SUM(login_name <> CONCAT('deleted-', user_id))",
    },
  ],
  audit_logs: [
    'user_id',
    {
      audits: 'COUNT(*)',
      ...Object.fromEntries(auditEvents.map((event) => [event, `SUM(event = '${event}')`])),
      auditsOfAdmins: 'SUM(actor_id IS NOT NULL)',
    },
  ],
  mail_outbox: [
    'user_id',
    {
      ...Object.fromEntries(Object.entries(mailKinds).map(([name, kind]) => [name, `SUM(kind = '${kind}')`])),
      contradictoryMails: 'SUM((status = 0) <> (payload IS NOT NULL))',
      unsentMails: 'SUM(status NOT IN (0, 1))',
      waitingMails: 'SUM(status = 0)',
    },
  ],
  event_outbox: [
    'stream',
    {
      events: 'COUNT(*)',
      // What was sent keeps its content for a replay, except the events of an erased user before the deletion.
      contradictoryEvents: `SUM(status NOT IN (0, 1)
        OR (erased = 0 AND payload IS NULL) OR (erased = 1 AND (status = 0) <> (payload IS NOT NULL)))`,
    },
  ],
  recovery_codes: ['user_id', { codesLeft: 'SUM(used_at IS NULL)', codesSpent: 'SUM(used_at IS NOT NULL)' }],
  passkeys: ['user_id', { passkeys: 'COUNT(*)' }],
  user_change_password_request: [
    'user_id',
    {
      links: 'SUM(type = 2)',
      usedLinks: 'SUM(type = 2 AND status = 1)',
      invitations: 'SUM(type = 0)',
      pendingLinks: 'SUM(status = 0)',
    },
  ],
  pending_logins: ['user_id', { pendingLogins: 'COUNT(*)', openLogins: 'SUM(is_closed = 0)' }],
  totp_secrets: ['user_id', { authenticators: 'COUNT(*)', usedStep: 'MAX(last_used_step)' }],
};

const columnsOfUser = {
  status: 'u.status',
  failedLogins: 'u.login_failed_count',
  failedCodes: 'u.mfa_failed_count',
  version: 'u.credential_version',
  isDeleted: 'u.deleted_at IS NOT NULL',
  hasOwnFactors: 'u.own_factors',
  hasPassword: 'u.password IS NOT NULL',
  hasEmail: 'u.email IS NOT NULL',
  hasSecret: 'u.topt_secret IS NOT NULL',
  hasTombstoneName: "u.login_name = CONCAT('deleted-', u.uid)",
  saltFits: 'COALESCE(u.salt = LEFT(u.password, 29), u.salt IS NULL AND u.password IS NULL)',
  passwordIsNewest: `COALESCE(u.password = (SELECT l.password FROM user_change_pwd_logs l WHERE l.user_id = u.uid
    ORDER BY l.id DESC LIMIT 1), 0)`,
  liveOldTokens: `(SELECT COUNT(*) FROM login_tokens o WHERE o.user_identity = u.uid AND o.is_revoked = 0
    AND o.credential_version <> u.credential_version)`,
  lostSuccessors: `(SELECT COUNT(*) FROM login_tokens p LEFT JOIN login_tokens n ON n.jti = p.successor_jti
    WHERE p.user_identity = u.uid AND p.successor_jti IS NOT NULL AND n.jti IS NULL)`,
} as const;

type Part =
  | 'history'
  | 'historyByLink'
  | 'historyByOwner'
  | 'sessions'
  | 'firstTokens'
  | 'sessionsWithAccess'
  | 'refreshTokens'
  | 'successors'
  | 'liveTokens'
  | 'tokensWithClient'
  | 'loginRows'
  | 'logins'
  | 'loginsByTotp'
  | 'loginsByRecovery'
  | 'wrongPasswords'
  | 'rowsWithName'
  | 'audits'
  | 'auditsOfAdmins'
  | 'contradictoryMails'
  | 'unsentMails'
  | 'waitingMails'
  | 'events'
  | 'contradictoryEvents'
  | 'codesLeft'
  | 'codesSpent'
  | 'passkeys'
  | 'links'
  | 'usedLinks'
  | 'invitations'
  | 'pendingLinks'
  | 'pendingLogins'
  | 'openLogins'
  | 'authenticators'
  | 'usedStep';

/** What the database says about one user, as numbers. */
export type Facts = Readonly<
  Record<Part | Event | keyof typeof mailKinds | keyof typeof columnsOfUser, number> & { uid: string }
>;

/** Reads all facts in one statement, so that they are those of one moment. @param uid one user; default: all users */
export async function factsOf(pair: CrashPair, uid?: string): Promise<Facts[]> {
  const tables = Object.entries(parts).map(([table, [owner, columns]]) => {
    const aggregates = Object.entries(columns).map(([name, expression]) => `${expression} AS ${name}`);
    const only = uid === undefined ? '' : `WHERE ${owner} = ?`;
    return `LEFT JOIN (SELECT ${owner} AS owner, ${aggregates.join(', ')} FROM ${table} ${only} GROUP BY ${owner}) ${table}_
      ON ${table}_.owner = u.uid`;
  });
  const columns = [
    ...Object.entries(columnsOfUser).map(([name, expression]) => `${expression} AS ${name}`),
    ...Object.entries(parts).flatMap(([table, [, names]]) =>
      Object.keys(names).map((name) => `COALESCE(${table}_.${name}, 0) AS ${name}`),
    ),
  ];
  const rows = await pair.rows(
    `SELECT u.uid, ${columns.join(', ')} FROM users u ${tables.join('\n')} ${uid === undefined ? '' : 'WHERE u.uid = ?'}`,
    uid === undefined ? [] : Array<string>(tables.length + 1).fill(uid),
  );
  return rows.map(
    ({ uid: id, ...facts }) =>
      ({
        uid: id,
        ...Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, Number(value)])),
      }) as Facts,
  );
}

export async function factsOfOne(pair: CrashPair, uid: string): Promise<Facts> {
  const [facts] = await factsOf(pair, uid);
  if (facts === undefined) throw new Error(`no user ${uid}`);
  return facts;
}

type Rule = readonly [text: string, holds: (f: Facts) => boolean];

/** What is true of every user at every moment, also while requests are running and after every crash. */
const always: readonly Rule[] = [
  ['each row of the logs has one event', (f) => f.events === f.audits + f.loginRows],
  [
    'a mail waits with its content or is sent without it, and an event keeps its content until the user is erased',
    (f) => f.contradictoryMails + f.contradictoryEvents === 0,
  ],
  ['an audit row says that the user was deleted, exactly when that is so', (f) => f.USER_DELETED === f.isDeleted],
  [
    'each session has its first token, and an access token',
    (f) => f.sessions === f.firstTokens && f.sessions === f.sessionsWithAccess,
  ],
  [
    'each successor of a refresh token exists, and has one predecessor',
    (f) => f.lostSuccessors === 0 && f.refreshTokens === f.sessions + f.successors,
  ],
  [
    'each login that succeeded, and each own change, has opened one session',
    (f) => f.isDeleted === 1 || f.sessions === f.logins + f.historyByOwner,
  ],
  ['no token of a former credential version is live', (f) => f.liveOldTokens === 0],
  ['a code was mailed for each audit row that says so', (f) => f.codeMails === f.MFA_CODE_SENT],
  ['a link was mailed for each audit row that says so', (f) => f.linkMails === f.USER_RESET_PASSWORD + f.USER_INVITED],
  ['the owner was told of each new password', (f) => f.changeMails === f.USER_PASSWORD_CHANGED],
  ['the owner was told of each spent recovery code', (f) => f.codeUsedMails === f.RECOVERY_CODE_USED],
  ['the owner was told of new recovery codes', (f) => f.codesMadeMails === f.RECOVERY_CODES_CREATED],
  ['the owner was told of each passkey', (f) => f.passkeyMails === f.PASSKEY_ADDED],
  ['each spent recovery code has opened one session', (f) => f.RECOVERY_CODE_USED === f.loginsByRecovery],
  [
    'the credential version counts what ends sessions',
    (f) => f.version === f.USER_PASSWORD_CHANGED + f.USER_TOKENS_REVOKED + f.USER_STATUS_CHANGED + f.USER_DELETED,
  ],
  [
    'an administrator is named in each audit row of a change by one',
    (f) =>
      f.auditsOfAdmins >=
      f.USER_STATUS_CHANGED +
        f.USER_CHANGED +
        f.USER_DELETED +
        f.USER_INVITED +
        f.USER_UNLOCKED +
        f.USER_TOKENS_REVOKED,
  ],
];

const ofLiving: readonly Rule[] = [
  ['the password is the newest one of the history, with its salt', (f) => f.passwordIsNewest === 1 && f.saltFits === 1],
  [
    'each password of the history is in the audit',
    (f) =>
      f.history === 1 + f.USER_PASSWORD_CHANGED && f.USER_PASSWORD_CHANGED === f.historyByLink - 1 + f.historyByOwner,
  ],
  ['each used link has set one password', (f) => f.usedLinks === f.historyByLink - 1],
  ['each link is in the audit', (f) => f.links === f.USER_RESET_PASSWORD && f.invitations === f.USER_INVITED],
  ['a link that waits belongs to the password of now', (f) => f.pendingLinks === 0 || f.USER_PASSWORD_CHANGED === 0],
  ['the status has changed exactly when the audit says so', (f) => (f.status === 1) === (f.USER_STATUS_CHANGED === 0)],
  ['the address was removed exactly when the audit says so', (f) => (f.hasEmail === 1) === (f.USER_CHANGED === 0)],
  ['each spent recovery code is in the audit', (f) => f.codesSpent === f.RECOVERY_CODE_USED],
  [
    'there are ten recovery codes, or none',
    (f) => f.codesLeft + f.codesSpent === (f.RECOVERY_CODES_CREATED > 0 ? 10 : 0),
  ],
  ['each passkey is in the audit', (f) => f.passkeys === f.PASSKEY_ADDED],
  [
    'the user has factors of their own exactly when it is noted',
    (f) => (f.hasOwnFactors === 1) === f.passkeys + f.codesLeft + f.codesSpent > 0,
  ],
  ['a time step is used exactly when a login has used it', (f) => f.usedStep > 0 === f.loginsByTotp > 0],
  ['no mail is given up', (f) => f.unsentMails === 0],
];

const ofDeleted: readonly Rule[] = [
  [
    'nothing identifies a deleted user, and nothing of it can be used',
    (f) =>
      f.hasTombstoneName === 1 &&
      f.rowsWithName + f.tokensWithClient + f.liveTokens + f.waitingMails === 0 &&
      f.hasPassword + f.hasEmail + f.hasSecret + f.history + f.links + f.invitations + f.passkeys === 0 &&
      f.codesLeft + f.codesSpent + f.authenticators + f.pendingLogins === 0 &&
      f.status !== 1,
  ],
];

/** Returns what is wrong with this user. */
export function contradictions(facts: Facts): string[] {
  const rules = [...always, ...(facts.isDeleted === 1 ? ofDeleted : ofLiving)];
  return rules
    .filter(([, holds]) => !holds(facts))
    .map(([text]) => {
      const present = Object.entries(facts).filter(([, value]) => value !== 0);
      return `not true: ${text}. ${JSON.stringify(Object.fromEntries(present))}`;
    });
}

/** Events that no process would ever send, because their stream is not known. */
export async function forgottenEvents(pair: CrashPair): Promise<string[]> {
  const rows = await pair.rows<{ event_id: string }>(
    `SELECT o.event_id FROM event_outbox o LEFT JOIN event_streams s ON s.stream = o.stream
     WHERE o.status = 0 AND o.fresh = 0 AND s.stream IS NULL`,
  );
  return rows.map(({ event_id }) => `the event ${event_id} waits, and its stream is not known`);
}
