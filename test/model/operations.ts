import fc from 'fast-check';
import { authenticatorCode, wrongCode } from '../support/mfa';
import type {
  AdminAction,
  AppRecord,
  Owner,
  ProviderAction,
  Request,
  ScimAction,
  State,
  Token,
  Totp,
  User,
} from './state';

/**
 * What a history stores: it names a user by its number, and everything else by its age (0 is the newest). It can
 * therefore be shortened, and replayed on another database. `resolved` makes the request, with the values of the moment.
 */
export type Operation =
  | { op: 'login'; user: number; password: 'right' | 'wrong' | 'former'; device: number | null }
  | {
      op: 'verify';
      user: number;
      type: 'email' | 'recovery';
      code: 'right' | 'wrong';
      owner: OwnerKind;
      trust: boolean;
    }
  | { op: 'totp'; user: number; code: TotpKind; owner: OwnerKind; trust: boolean }
  | { op: 'resend'; user: number; type: 'email' | 'totp'; owner: OwnerKind }
  | { op: 'refresh'; nth: number; use: Token['use'] }
  | { op: 'logout'; nth: number; use: Token['use'] }
  | { op: 'me' | 'sessions' | 'endOthers' | 'recoveryCodes' | 'devices'; user: number; nth: number }
  | { op: 'endSession'; user: number; nth: number; session: number }
  | { op: 'removeDevice'; user: number; nth: number; device: number }
  | { op: 'enrol'; user: number; nth: number; code: TotpKind | null }
  | { op: 'forgot'; user: number }
  | { op: 'look'; link: number }
  | { op: 'submit'; link: number; password: NewPassword }
  | { op: 'change'; user: number; nth: number; current: 'right' | 'wrong'; password: NewPassword }
  | { op: 'admin'; by: number | null; user: number; action: AdminAction }
  | { op: 'signInAtApplication'; user: number; nth: number; offline: boolean }
  | { op: 'exchange'; nth: number }
  | { op: 'refreshOfApplication' | 'userinfo' | 'revocation'; nth: number; use: 'AccessToken' | 'RefreshToken' }
  | { op: 'endGrant'; user: number; nth: number; grant: number }
  | { op: 'application'; enabled: boolean }
  | { op: 'scimCreate' }
  | { op: 'scim'; user: number; action: ScimAction }
  | { op: 'member'; user: number; joins: boolean }
  | { op: 'signInAtProvider'; person: number; age: number }
  | { op: 'redeem'; nth: number; device: number | null }
  | { op: 'move'; user: number; to: User['provider'] }
  | { op: 'provider'; action: ProviderAction }
  | { op: 'logoutAtProvider'; person: number };

/** One operation, several that are sent at once, or a number of seconds in which nothing happens. */
export type Step = Operation | { together: Operation[] } | { wait: number };

export interface History {
  /** Whether logins need a second factor. With it the refresh tokens do not rotate, without it they do. */
  readonly mfa: boolean;
  /** How the second user begins. */
  readonly second: 'plain' | 'temporary';
  readonly steps: readonly Step[];
}

type OwnerKind = 'token' | 'address' | 'stranger' | 'wrong token';
/** A number is the place among the passwords that were set: 1 is the current one. */
type NewPassword = 'fresh' | 'short' | 'differs' | 1 | 2 | 3 | 4;
/** A code of the active secret or of the one that is enrolled, in the present or another time step. */
type TotpKind = { of: 'active' | 'enrolment'; steps: -2 | -1 | 0 | 1 } | 'wrong';

/** @returns undefined when the history has not made what the operation names */
export function resolved(operation: Operation, state: State, fresh: () => number): Request | undefined {
  const users = state.users;
  const nth = <T>(all: readonly T[], n: number): T | undefined => all[all.length - 1 - n];
  const tokens = (use: Token['use'], user?: number) =>
    state.tokens.filter((t) => t.use === use && (user === undefined || userOf(state, t) === user));
  const access = (user: number, n: number) => nth(tokens('access', user), n)?.jti;
  // The third user does not exist before SCIM has made it.
  if ('user' in operation && users[operation.user] === undefined) return undefined;
  switch (operation.op) {
    case 'login': {
      const { user, password, device } = operation;
      const typed = { right: nth(users[user]!.passwords, 0), former: nth(users[user]!.passwords, 1), wrong: undefined };
      const token = device === null ? undefined : nth(deviceTokens(state, user), device);
      return {
        op: 'login',
        user,
        password: typed[password]?.text ?? 'Wrong-Password-1',
        ...(token && { device: token }),
      };
    }
    case 'verify': {
      const { user, type, trust } = operation;
      const right = type === 'email' ? users[user]!.pending?.code : users[user]!.recovery[0];
      const wrong = type === 'email' ? wrongCode(right ?? '123456') : '00000-00000';
      const code = (operation.code === 'right' && right) || wrong;
      return { op: 'verify', user, type, code, trust, owner: ownerOf(operation.owner, users[user]!) };
    }
    case 'totp': {
      const { user, trust, owner } = operation;
      const totp = totpOf(operation.code, users[user]!, state.now);
      const bearer = access(user, 0);
      return totp && { op: 'verify', user, type: 'totp', ...totp, trust, owner: ownerOf(owner, users[user]!), bearer };
    }
    case 'resend':
      return { ...operation, owner: ownerOf(operation.owner, users[operation.user]!) };
    case 'refresh':
    case 'logout': {
      const token = nth(tokens(operation.use), operation.nth)?.jti;
      return token === undefined ? undefined : { op: operation.op, token };
    }
    case 'forgot':
      return users[operation.user]!.erased ? undefined : operation;
    case 'look':
    case 'submit': {
      const link = nth(state.links, operation.link);
      if (link === undefined) return undefined;
      if (operation.op === 'look') return { op: 'look', link: link.token };
      return { op: 'submit', link: link.token, ...newPassword(operation.password, users[link.user]!, fresh) };
    }
    case 'admin': {
      const by = operation.by === null ? null : access(operation.by, 0);
      if (by === undefined) return undefined;
      const { user, action } = operation;
      const isAddress = typeof action === 'object' && 'email' in action;
      const email = isAddress ? `${action.email}-${users[user]!.name}@example.com` : '';
      return { op: 'admin', by, user, action: isAddress ? { email } : action };
    }
    case 'exchange': {
      const code = newest(state, 'AuthorizationCode', operation.nth);
      return code === undefined ? undefined : { op: 'exchange', code };
    }
    case 'refreshOfApplication':
    case 'userinfo':
    case 'revocation': {
      const presented = newest(state, operation.use, operation.nth);
      return presented === undefined ? undefined : { op: operation.op, presented };
    }
    case 'scimCreate': {
      // A deleted user is not made again, so that there are three users at most.
      const name = users[0]!.name.replace('m0', 'm2');
      return users[2]?.erased === true ? undefined : { op: 'scimCreate', name };
    }
    case 'signInAtProvider': {
      // The provider would make another user of this name.
      const known = users[operation.person];
      return known?.erased === true || (known && !isNumber(operation.person, known)) ? undefined : operation;
    }
    case 'redeem': {
      const code = nth(state.externalCodes, operation.nth);
      if (code === undefined) return undefined;
      const device = operation.device === null ? undefined : nth(deviceTokens(state, code.user), operation.device);
      return { op: 'redeem', code: code.value, ...(device && { device }) };
    }
    case 'move':
      return isNumber(operation.user, users[operation.user]!) ? operation : undefined;
    case 'application':
    case 'scim':
    case 'member':
    case 'provider':
    case 'logoutAtProvider':
      return operation;
    default: {
      const token = access(operation.user, operation.nth);
      return token === undefined ? undefined : ofBearer(operation, token, state, fresh);
    }
  }
}

type OfBearer = Extract<Operation, { user: number; nth: number }>;

function ofBearer(operation: OfBearer, token: string, state: State, fresh: () => number): Request | undefined {
  const u = state.users[operation.user]!;
  switch (operation.op) {
    case 'endSession': {
      // Now and then a session of the other user.
      const sid = state.sessions.at(-1 - operation.session)?.sid;
      return sid === undefined ? undefined : { op: 'endSession', token, sid };
    }
    case 'removeDevice': {
      const id = state.devices.at(-1 - operation.device)?.id;
      return id === undefined ? undefined : { op: 'removeDevice', token, id };
    }
    case 'signInAtApplication':
      return { op: 'signInAtApplication', token, offline: operation.offline };
    case 'endGrant': {
      const id = state.grants.at(-1 - operation.grant)?.id;
      return id === undefined ? undefined : { op: 'endGrant', token, id };
    }
    case 'enrol': {
      if (operation.code === null) return { op: 'enrol', token };
      const totp = totpOf(operation.code, u, state.now);
      return totp && { op: 'enrol', token, ...totp };
    }
    case 'change': {
      const current = operation.current === 'right' ? u.passwords.at(-1)?.text : undefined;
      const chosen = newPassword(operation.password, u, fresh);
      return { op: 'change', token, current: current ?? 'Wrong-Password-1', ...chosen };
    }
    default:
      return { op: operation.op, token };
  }
}

const userOf = (state: State, { sid }: Token) => state.sessions.find((one) => one.sid === sid)!.user;

/**
 * Without the sign-ins at the provider beside a deletion of that person: the provider would make another user of the name, and a
 * history names a user by its number.
 */
export function apart(requests: readonly Request[]): Request[] {
  const erased = requests.flatMap((one) => (one.op === 'admin' && one.action === 'erase' ? one.user : []));
  return requests.filter((one) => one.op !== 'signInAtProvider' || !erased.includes(one.person));
}

/** Rarely a deletion and a new sign-in at the provider have made the third user of the name of an earlier one. */
const isNumber = (n: number, { name }: User): boolean => name.startsWith(`m${n}-`);

const newest = ({ records }: State, kind: AppRecord['kind'], n: number): string | undefined =>
  records.filter((one) => one.kind === kind).at(-1 - n)?.value;

const deviceTokens = (state: State, user: number) =>
  state.devices.filter((device) => device.user === user).flatMap(({ tokens }) => tokens);

function ownerOf(kind: OwnerKind, { pending }: User): Owner {
  if (kind === 'address') return { ip: '127.0.0.1' };
  if (kind === 'stranger') return { ip: '192.0.2.7' };
  if (kind === 'wrong token') return { ip: '127.0.0.1', mfaToken: 'not-the-token-of-this-login' };
  return { ip: '192.0.2.8', ...(pending && { mfaToken: pending.token }) };
}

function newPassword(kind: NewPassword, { passwords }: User, fresh: () => number) {
  const chosen = `Unlikely-Stone-${fresh()}`;
  if (kind === 'short') return { password: 'Short-1', confirm: 'Short-1' };
  if (kind === 'differs') return { password: chosen, confirm: `${chosen}-typo` };
  const used = typeof kind === 'number' ? passwords.at(-kind)?.text : undefined;
  return { password: used ?? chosen, confirm: used ?? chosen };
}

/** Codes of six digits can be equal by chance. Such a code is not sent, because the model could not tell its secret. */
function totpOf(kind: TotpKind, u: User, now: number): { code: string; totp?: Totp } | undefined {
  const step = Math.floor(now / 30);
  const secrets = [u.secret, u.enrolment?.secret].filter((one) => typeof one === 'string');
  const accepted = new Set([...secrets].flatMap((secret) => [-2, -1, 0, 1].map((n) => `${secret} ${step + n}`)));
  const codeAt = (key: string) => {
    const [secret = '', at] = key.split(' ');
    return authenticatorCode(secret, new Date(Number(at) * 30_000));
  };
  const codes = [...accepted].map((key) => [key, codeAt(key)] as const);
  if (kind === 'wrong') {
    const wrong = ['111111', '222222', '333333', '444444', '555555', '666666', '777777', '888888', '999999'];
    return { code: wrong.find((code) => !codes.some(([, one]) => one === code))! };
  }
  const secret = kind.of === 'active' ? u.secret : u.enrolment?.secret;
  if (typeof secret !== 'string') return undefined;
  const key = `${secret} ${step + kind.steps}`;
  const code = codeAt(key);
  if (codes.some(([other, one]) => one === code && other !== key)) return undefined;
  return { code, totp: { secret, step: step + kind.steps } };
}

const user = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 1, 2);
const nth = fc.constantFrom(0, 0, 0, 1, 2, 4);
const of = <T>(...values: T[]) => fc.constantFrom(...values);
const owner = of<OwnerKind>('token', 'token', 'token', 'address', 'stranger', 'wrong token');
const trust = of(true, false, false);
const newPasswords = of<NewPassword>('fresh', 'fresh', 'fresh', 'short', 'differs', 1, 2, 3, 4);
const totp = fc.oneof(
  { weight: 4, arbitrary: fc.record({ of: of('active', 'enrolment' as const), steps: of(0, 0, 1, -1, -2 as const) }) },
  { weight: 1, arbitrary: fc.constant('wrong') },
) as fc.Arbitrary<TotpKind>;

/** The weights: how often an operation is chosen without and with a second factor. */
const weighted: [number, number, fc.Arbitrary<Operation>][] = [
  [
    12,
    8,
    fc.record({
      op: of('login'),
      user,
      password: of('right', 'right', 'right', 'wrong', 'wrong', 'former'),
      device: of(null, 0, 0, 1, 2),
    }),
  ],
  [
    0,
    10,
    fc.record({
      op: of('verify'),
      user,
      type: of('email', 'email', 'email', 'recovery'),
      code: of('right', 'right', 'wrong'),
      owner,
      trust,
    }),
  ],
  [1, 6, fc.record({ op: of('totp'), user, code: totp, owner, trust })],
  [0, 3, fc.record({ op: of('resend'), user, type: of('email', 'email', 'email', 'totp'), owner })],
  [10, 4, fc.record({ op: of('refresh'), nth, use: of('refresh', 'refresh', 'refresh', 'refresh', 'access') })],
  [3, 2, fc.record({ op: of('logout'), nth, use: of('access', 'refresh') })],
  [2, 2, fc.record({ op: of('me'), user, nth })],
  [3, 2, fc.record({ op: of('sessions', 'endOthers'), user, nth })],
  [2, 1, fc.record({ op: of('endSession'), user, nth, session: nth })],
  [1, 3, fc.record({ op: of('recoveryCodes'), user, nth })],
  [0, 3, fc.record({ op: of('devices'), user, nth })],
  [0, 2, fc.record({ op: of('removeDevice'), user, nth, device: nth })],
  [1, 4, fc.record({ op: of('enrol'), user, nth, code: fc.option(totp) })],
  [4, 2, fc.record({ op: of('forgot'), user })],
  [2, 1, fc.record({ op: of('look'), link: nth })],
  [5, 3, fc.record({ op: of('submit'), link: nth, password: newPasswords })],
  [
    4,
    3,
    fc.record({ op: of('change'), user, nth, current: of('right', 'right', 'right', 'wrong'), password: newPasswords }),
  ],
  [
    8,
    8,
    fc.record({
      op: of('admin'),
      by: of(null, null, null, null, 0, 1),
      user,
      action: fc.oneof(
        {
          weight: 6,
          arbitrary: of<AdminAction>(
            ...(['unlock', 'revoke-sessions', 'reset-second-factor', 'invite', 'send-reset-link'] as const),
            'require-password-change',
          ),
        },
        { weight: 3, arbitrary: fc.record({ status: of(1, 1, 1, 1, 1, 0, -1, -2) }) },
        { weight: 4, arbitrary: fc.record({ is_admin: of(true, true, false) }) },
        { weight: 1, arbitrary: fc.record({ mfa_type: of('email', 'totp' as const) }) },
        { weight: 1, arbitrary: fc.record({ email: of('first', 'second') }) },
        { weight: 1, arbitrary: fc.constant('erase' as const) },
      ),
    }),
  ],
  [5, 4, fc.record({ op: of('signInAtApplication'), user, nth, offline: of(false, false, true) })],
  [3, 2, fc.record({ op: of('exchange'), nth })],
  [5, 4, fc.record({ op: of('refreshOfApplication'), nth, use: of('RefreshToken', 'RefreshToken', 'AccessToken') })],
  [2, 2, fc.record({ op: of('userinfo'), nth, use: of('AccessToken', 'AccessToken', 'RefreshToken') })],
  [1, 1, fc.record({ op: of('revocation'), nth, use: of('AccessToken', 'RefreshToken') })],
  [2, 1, fc.record({ op: of('endGrant'), user, nth, grant: nth })],
  [1, 1, fc.record({ op: of('application'), enabled: of(true, true, false) })],
  [1, 1, fc.record({ op: of('scimCreate') })],
  [4, 4, fc.record({ op: of('scim'), user, action: of('disable', 'disable', 'enable', 'enable', 'enable', 'delete') })],
  [2, 1, fc.record({ op: of('member'), user, joins: of(true, true, false) })],
  [4, 3, fc.record({ op: of('signInAtProvider'), person: user, age: of(0, 0, 0, 400) })],
  [4, 3, fc.record({ op: of('redeem'), nth, device: of(null, 0, 0, 1) })],
  [2, 2, fc.record({ op: of('move'), user, to: of('oidc', 'oidc', 'password' as const) })],
  [2, 1, fc.record({ op: of('provider'), action: of('disable', 'enable', 'enable', 'enable', 'delete') })],
  [1, 1, fc.record({ op: of('logoutAtProvider'), person: user })],
] as [number, number, fc.Arbitrary<Operation>][];

/** Around each limit of the specification: one second before, at it, and one second after. */
const limits = [10, 60, 300, 900, 1800];
const day = 86_400;
const wait = fc.oneof(
  { weight: 8, arbitrary: of(1, 5, 30, 61) },
  { weight: 8, arbitrary: fc.tuple(of(...limits), of(-1, 0, 1)).map(([limit, n]) => limit + n) },
  { weight: 1, arbitrary: of(7 * day, 30 * day, 90 * day + 1, 180 * day + 1) },
);

function operations(mfa: boolean): fc.Arbitrary<Operation> {
  const chosen = weighted.map(([without, withFactor, arbitrary]) => ({
    weight: mfa ? withFactor : without,
    arbitrary,
  }));
  return fc.oneof(...chosen.filter(({ weight }) => weight > 0));
}

const login = (who: number, password: 'right' | 'wrong' = 'right', device: number | null = null): Step => ({
  ...{ op: 'login', user: who, password, device },
});
const mailedCode = (
  who: number,
  code: 'right' | 'wrong' = 'right',
  trusts = false,
): Extract<Operation, { op: 'verify' }> => ({
  ...{ op: 'verify', user: who, type: 'email', code, owner: 'token', trust: trusts },
});
const totpCode = (who: number, secret: 'active' | 'enrolment'): Operation => ({
  ...{ op: 'totp', user: who, code: { of: secret, steps: 0 }, owner: 'token', trust: false },
});
/** What may end the tokens of an application. */
const endings: Operation[][] = [
  [{ op: 'logout', nth: 0, use: 'access' }],
  [{ op: 'scim', user: 0, action: 'disable' }],
  [
    { op: 'scim', user: 0, action: 'disable' },
    { op: 'scim', user: 0, action: 'enable' },
  ],
  [{ op: 'endGrant', user: 0, nth: 0, grant: 0 }],
  [{ op: 'application', enabled: false }],
  [{ op: 'member', user: 0, joins: false }],
  [{ op: 'admin', by: null, user: 0, action: 'revoke-sessions' }],
  [{ op: 'change', user: 0, nth: 0, current: 'right', password: 'fresh' }],
  [{ op: 'revocation', nth: 0, use: 'RefreshToken' }],
  [],
];
/** Requests that may end a sign-in at the identity provider, or the session that it opened. */
const endingsAtProvider: Operation[][] = [
  [{ op: 'move', user: 0, to: 'password' }],
  [{ op: 'move', user: 0, to: 'oidc' }],
  [{ op: 'provider', action: 'disable' }],
  [{ op: 'provider', action: 'delete' }],
  [{ op: 'logoutAtProvider', person: 0 }],
  [{ op: 'admin', by: null, user: 0, action: 'erase' }],
  [
    { op: 'scim', user: 0, action: 'disable' },
    { op: 'scim', user: 0, action: 'enable' },
  ],
  [],
];
const times = (n: number, step: Step): Step[] => Array.from({ length: n }, () => step);
const signInOf = (who: number, mfa: boolean, trusts = false): Step[] =>
  mfa ? [{ wait: 61 }, login(who), mailedCode(who, 'right', trusts)] : [login(who)];
const around = (limit: number) => of(1, limit - 1, limit, limit + 1).map((seconds): Step => ({ wait: seconds }));

/** Sequences that lead to the limits of the specification. Single operations reach them too seldom. */
function sequences(mfa: boolean): fc.WeightedArbitrary<Step[]>[] {
  const signIn = fc.tuple(user, trust).map(([who, trusts]) => signInOf(who, mfa, trusts));
  const guesses = fc
    .tuple(user, of(2, 3, 4), around(900))
    .map(([who, n, pause]) => [...times(n, login(who, 'wrong')), pause, login(who)]);
  const link = fc
    .tuple(user, around(1800), nth)
    .map(([who, pause, n]): Step[] => [
      { op: 'forgot', user: who },
      pause,
      ...times(2, { op: 'submit', link: n, password: 'fresh' }),
    ]);
  const passwords = fc
    .tuple(user, of(1, 2, 3, 4), of<NewPassword>(1, 2, 3, 4))
    .map(([who, n, reused]): Step[] => [
      ...times(n, { op: 'change', user: who, nth: 0, current: 'right', password: 'fresh' }),
      { op: 'change', user: who, nth: 0, current: 'right', password: reused },
    ]);
  const rotation = fc
    .tuple(of(1, 2), around(10), of(0, 1, 2))
    .map(([n, pause, last]): Step[] => [
      ...times(n, { op: 'refresh', nth: 0, use: 'refresh' }),
      pause,
      ...[1, last].map((at): Step => ({ op: 'refresh', nth: at, use: 'refresh' })),
    ]);
  const wrongCodes = fc
    .tuple(user, of(4, 5, 6), of(1, 2, 3), around(900))
    .map(([who, n, logins, pause]) => [
      ...Array.from({ length: logins }, () => [{ wait: 61 }, login(who), ...times(n, mailedCode(who, 'wrong'))]).flat(),
      pause,
      login(who),
      mailedCode(who),
    ]);
  const enrolment = user.map((who): Step[] => [
    { op: 'enrol', user: who, nth: 0, code: null },
    totpCode(who, 'enrolment'),
    { wait: 30 },
    ...[login(who), totpCode(who, 'active'), login(who), totpCode(who, 'active')],
  ]);
  const device = fc
    .tuple(user, around(10), of(1, 2))
    .map(([who, pause, former]) => [
      ...signInOf(who, true, true),
      ...[login(who, 'right', 0), pause, login(who, 'right', former), { wait: 61 }, login(who, 'right', 0)],
    ]);
  const recovery = user.map((who): Step[] => [
    { op: 'recoveryCodes', user: who, nth: 0 },
    { wait: 61 },
    login(who),
    ...times(2, { op: 'verify', user: who, type: 'recovery', code: 'right', owner: 'token', trust: false }),
  ]);
  const resends = fc.tuple(user, around(60), around(60)).map(([who, first, second]): Step[] => {
    const resend: Step = { op: 'resend', user: who, type: 'email', owner: 'token' };
    return [{ wait: 61 }, login(who), first, resend, second, resend, mailedCode(who)];
  });
  const application = fc
    .tuple(user, of(false, false, true), of<Operation[]>(...endings), of(0, 1), around(60))
    .map(([who, offline, ends, last, pause]): Step[] => [
      { op: 'member', user: who, joins: true },
      { op: 'application', enabled: true },
      ...signInOf(who, mfa),
      { op: 'signInAtApplication', user: who, nth: 0, offline },
      ...(last === 1 ? [pause] : []),
      { op: 'exchange', nth: 0 },
      { op: 'refreshOfApplication', nth: 0, use: 'RefreshToken' },
      ...ends.map((one) => ('user' in one ? { ...one, user: who } : one)),
      { op: 'refreshOfApplication', nth: last, use: 'RefreshToken' },
      { op: 'userinfo', nth: 0, use: 'AccessToken' },
    ]);
  const provisioning = of<ScimAction>('disable', 'delete', 'enable').map((action): Step[] => [
    { op: 'scimCreate' },
    { op: 'submit', link: 0, password: 'fresh' },
    ...signInOf(2, mfa),
    { op: 'scim', user: 2, action },
    { op: 'me', user: 2, nth: 0 },
    { op: 'scim', user: 2, action: 'enable' },
    login(2),
  ]);
  const provider = fc
    .tuple(of(0, 0, 0, 1, 2), of<Operation[]>(...endingsAtProvider), of(0, 1, 2), of(0, 0, 1), around(60))
    .map(([who, ends, at, device, pause]): Step[] => {
      const ending = ends.map((one) => ({
        ...one,
        ...('user' in one && { user: who }),
        ...('person' in one && { person: who }),
      })) as Step[];
      const again: Step[] = [
        { op: 'signInAtProvider', person: who, age: 400 },
        { op: 'redeem', nth: 0, device: null },
      ];
      const end = (place: number) => (at === place ? ending : []);
      return [
        ...(who === 2 ? [] : [{ op: 'move', user: who, to: 'oidc' } as const]),
        ...(mfa ? [{ wait: 61 }] : []),
        { op: 'signInAtProvider', person: who, age: 0 },
        ...(device === 1 ? [pause] : end(0)),
        { op: 'redeem', nth: 0, device: mfa && device === 1 ? 0 : null },
        ...end(1),
        ...(mfa ? [mailedCode(who, 'right', true)] : []),
        ...end(2),
        { op: 'me', user: who, nth: 0 },
        { op: 'refresh', nth: 0, use: 'refresh' },
        { op: 'provider', action: 'enable' },
        ...(at === 2 ? again : []),
      ];
    });
  // One code, link or token in several requests at once.
  const spent: Operation[] = mfa
    ? [mailedCode(0), totpCode(0, 'active'), { ...mailedCode(0), type: 'recovery' }]
    : [
        { op: 'submit', link: 0, password: 'fresh' },
        { op: 'refresh', nth: 0, use: 'refresh' },
      ];
  const spentAtApplication = fc
    .tuple(
      of<Operation>({ op: 'exchange', nth: 0 }, { op: 'refreshOfApplication', nth: 0, use: 'RefreshToken' }),
      of(...endings.flat(), null),
    )
    .map(([spending, other]): Step[] => [
      ...signInOf(0, mfa),
      { op: 'signInAtApplication', user: 0, nth: 0, offline: false },
      ...(spending.op === 'exchange' ? [] : [{ op: 'exchange', nth: 0 } as const]),
      { together: [spending, other ?? spending] },
      { op: 'userinfo', nth: 0, use: 'AccessToken' },
    ]);
  const races = fc.tuple(of(...spent), of(2, 3)).map(([operation, n]): Step[] => {
    const before: Step[] =
      operation.op === 'submit' ? [{ wait: 301 }, { op: 'forgot', user: 0 }] : [{ wait: 61 }, login(0)];
    return [...before, { together: Array.from({ length: n }, () => operation) }];
  });
  const both: [number, fc.Arbitrary<Step[]>][] = [
    [8, races],
    [18, signIn],
    [6, guesses],
    [5, link],
    [4, passwords],
    [10, application],
    [6, spentAtApplication],
    [3, provisioning],
    [9, provider],
  ];
  const own: [number, fc.Arbitrary<Step[]>][] = mfa
    ? [
        [5, wrongCodes],
        [7, enrolment],
        [3, resends],
        [6, device],
        [4, recovery],
      ]
    : [[10, rotation]];
  return [...both, ...own].map(([weight, arbitrary]) => ({ weight, arbitrary: sometimesRaced(arbitrary) }));
}

/** In many of the sequences, two or three operations that follow each other are sent at once. */
function sometimesRaced(sequence: fc.Arbitrary<Step[]>): fc.Arbitrary<Step[]> {
  const race = fc.option(fc.tuple(fc.nat(7), of(2, 2, 3)), { freq: 2 });
  return fc.tuple(sequence, race).map(([steps, raced]) => {
    if (raced === null) return steps;
    const [nth, n] = raced;
    const next = (at: number) => steps.slice(at, at + n).filter((step): step is Operation => 'op' in step);
    const places = [...steps.keys()].filter((at) => next(at).length === n);
    const at = places[nth % places.length];
    if (at === undefined) return steps;
    const together = next(at).some(isLong) ? next(at).slice(0, 2) : next(at);
    return [...steps.slice(0, at), { together }, ...steps.slice(at + together.length)];
  });
}

/** Three of these at once have too many possible orders. */
const isLong = ({ op }: Operation): boolean =>
  [
    ...['signInAtApplication', 'exchange', 'refreshOfApplication', 'scim'],
    ...['signInAtProvider', 'redeem', 'move'],
  ].includes(op);

function pieces(mfa: boolean): fc.Arbitrary<Step[]> {
  const one = operations(mfa);
  const alone = one.map((operation): Step[] => [operation]);
  // Half of the races are between equal requests.
  const equal = fc.tuple(one, of(2, 2, 3)).map(([operation, n]) => Array.from({ length: n }, () => operation));
  const together = fc
    .oneof(equal, fc.array(one, { minLength: 2, maxLength: 3 }))
    .map((all): Step[] => [{ together: all.some(isLong) ? all.slice(0, 2) : all }]);
  return fc.oneof(
    { weight: 50, arbitrary: alone },
    { weight: 34, arbitrary: together },
    { weight: 10, arbitrary: wait.map((seconds): Step[] => [{ wait: seconds }]) },
    ...sequences(mfa),
  );
}

const historiesOf = (mfa: boolean) =>
  fc.record({
    mfa: fc.constant(mfa),
    second: of<History['second']>('plain', 'temporary'),
    // Most histories begin with a session.
    steps: fc
      .tuple(
        of([], signInOf(0, mfa), signInOf(0, mfa, true)),
        fc.array(pieces(mfa), { minLength: 5, maxLength: 25, size: 'max' }),
      )
      .map(([start, all]) => [...start, ...all.flat()]),
  });

export const histories: fc.Arbitrary<History> = fc.oneof(historiesOf(false), historiesOf(true));
