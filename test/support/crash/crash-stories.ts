import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openMail } from '../../../src/mail/outbox/mail-payload';
import { secretPurpose, uriPurpose } from '../../../src/mfa/totp/sealed-totp';
import { KeyRing } from '../../../src/platform/crypto/key-ring';
import { SystemRandom } from '../../../src/shared/random';
import { SoftAuthenticator } from '../authenticator';
import type { SeededNumbers } from '../seeded-numbers';
import { authenticatorCode } from '../mfa';
import { eventually } from '../servers/eventually';
import type { Smtp } from '../servers/smtp';
import { captchaToken, password, testSettings } from '../settings';
import { contradictions, type Facts, factsOfOne } from './crash-facts';
import type { CrashPair, Reply, Request } from './crash-pair';

export interface World {
  readonly pair: CrashPair;
  readonly smtp: Smtp;
  readonly origin: string;
  readonly hash: string;
  readonly admins: readonly Person[];
  /** What the stories have seen, by kind. */
  readonly seen: Map<string, number>;
}

interface Session {
  readonly access: string;
  readonly refresh: string;
}

const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

const keys = new KeyRing({ dataKeys: [Buffer.from(testSettings.DATA_ENCRYPTION_KEY, 'base64')] }, new SystemRandom());

/** Creates a user who has never logged in. */
export async function givenPerson(
  { pair, hash }: Pick<World, 'pair' | 'hash'>,
  { totp = false, isAdmin = false } = {},
): Promise<Person> {
  const uid = randomUUID();
  const sealed = totp ? keys.seal(secretPurpose, secret) : null;
  const statements: [string, unknown[]][] = [
    [
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, status, mfa_type, topt_secret,
         is_admin, tenant_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, 'root', UTC_TIMESTAMP(3))`,
      [uid, uid, uid, mailOf(uid), mailOf(uid), hash, hash.slice(0, 29), totp ? 'totp' : 'email', sealed, isAdmin],
    ],
    [
      'INSERT INTO user_change_pwd_logs (user_id, type, password, created_at) VALUES (?, 0, ?, UTC_TIMESTAMP(3))',
      [uid, hash],
    ],
  ];
  if (sealed !== null) {
    statements.push([
      `INSERT INTO totp_secrets (user_id, secret, uri, confirmed_at, fetched, attempts, last_used_step)
       VALUES (?, ?, ?, UTC_TIMESTAMP(3), 0, 0, 0)`,
      [uid, sealed, keys.seal(uriPurpose, `otpauth://totp/x?secret=${secret}`)],
    ]);
  }
  await pair.together(statements);
  return { uid, totp };
}

export interface Person {
  readonly uid: string;
  readonly totp: boolean;
  access?: string;
}

const mailOf = (uid: string) => `${uid}@example.com`;

const passwords = { second: 'Another-Horse-7-b', third: 'Another-Horse-7-c', wrong: 'Wrong-Horse-7-x' };

/** What one person does, one request after the other, and what the database must then say about this person. */
export class Story {
  constructor(
    readonly world: World,
    readonly random: SeededNumbers,
    readonly person: Person,
  ) {}

  get uid(): string {
    return this.person.uid;
  }

  /** Reads what the database says, which must not contradict itself. */
  async facts(): Promise<Facts> {
    const facts = await factsOfOne(this.world.pair, this.uid);
    const [wrong] = contradictions(facts);
    if (wrong !== undefined) throw new Error(wrong);
    return facts;
  }

  async assert(what: string, holds: (f: Facts) => boolean): Promise<Facts> {
    const facts = await this.facts();
    if (!holds(facts)) this.fail(what, facts);
    return facts;
  }

  fail(what: string, seen: unknown): never {
    throw new Error(`${what}: ${JSON.stringify(seen)} of ${this.uid}`);
  }

  private note(kind: string): void {
    this.world.seen.set(kind, (this.world.seen.get(kind) ?? 0) + 1);
  }

  /** @returns undefined when there was no answer: the request may have happened, as a whole or up to a committed step */
  ask(request: Request): Promise<Reply | undefined> {
    return this.world.pair.ask(request, this.random);
  }

  /**
   * Sends a request again and again until it is answered. It succeeds unless an earlier attempt, which had no answer, has
   * already happened: then it gets the refusal.
   * @returns the answer, or undefined when an earlier attempt has happened and its answer is lost
   */
  async once(
    what: string,
    make: () => Promise<Request> | Request,
    happened: (f: Facts) => boolean,
    refusal: string,
  ): Promise<Reply | undefined> {
    for (;;) {
      const before = happened(await this.facts());
      const reply = await this.ask(await make());
      if (reply === undefined) {
        this.note(happened(await this.facts()) && !before ? `${what}: cut after the commit` : `${what}: cut before it`);
        continue;
      }
      if (reply.code !== (before ? refusal : 'success')) this.fail(`${what}, ${before ? 'again' : 'first'}`, reply);
      if (!happened(await this.facts())) this.fail(`${what} was answered and has not happened`, reply);
      this.note(`${what}: done`);
      return before ? undefined : reply;
    }
  }

  /** Types a wrong password. The counter moves by one for each answer, and by one or none without an answer. */
  async wrongPassword(): Promise<void> {
    const before = await this.facts();
    const reply = await this.ask(this.login(passwords.wrong));
    const after = await this.facts();
    const counted = after.failedLogins - before.failedLogins;
    const logged = after.wrongPasswords - before.wrongPasswords;
    if (reply === undefined) {
      // The counter is committed before the row of the log: nobody gets an answer that is not counted.
      if (counted > 1 || logged > counted) this.fail('a wrong password without an answer', { before, after });
      this.note(`wrong password: cut ${counted ? 'after the count' : 'before it'}`);
      return;
    }
    const isLocked = before.failedLogins >= 3;
    if (reply.code !== (isLocked ? 'LOGIN_401004' : 'LOGIN_401001')) this.fail('a wrong password', reply);
    if (counted !== (isLocked ? 0 : 1) || logged !== counted) this.fail('the counter', { reply, before, after });
    this.note('wrong password: done');
  }

  login(typed: string): Request {
    const body = { username: this.uid, password: typed, captcha_token: captchaToken };
    return { method: 'POST', path: '/login', body };
  }

  /** The right password opens a login that waits for a code, and sets the counter to 0. */
  async passwordStep(typed: string = password): Promise<void> {
    const sent = (await this.facts()).codeMails;
    for (;;) {
      const before = await this.facts();
      const reply = await this.ask(this.login(typed));
      const after = await this.facts();
      if (reply === undefined) {
        if (![0, before.failedLogins].includes(after.failedLogins)) this.fail('the counter', { before, after });
        if (after.codeMails === sent && after.openLogins > before.openLogins && !this.person.totp)
          this.fail('a login waits for a code that was not mailed', after);
        this.note('login: cut');
        continue;
      }
      // A code that was mailed before the answer was lost stays valid, and no other one is sent so soon.
      const isTooSoon = !this.person.totp && before.codeMails > sent;
      if (reply.code !== (isTooSoon ? 'MFA_429001' : 'success')) this.fail('login', { reply, before });
      if (after.failedLogins !== 0 || after.openLogins !== 1) this.fail('a login was answered', after);
      this.note('login: done');
      return;
    }
  }

  verify(type: string, code: string): Request {
    return { method: 'POST', path: '/otp-verify', body: { uid: this.uid, type, code } };
  }

  /** A wrong code. An attempt is taken before the code is compared, so each answer is counted. */
  async wrongCode(): Promise<void> {
    const before = await this.facts();
    const type = this.person.totp ? 'totp' : 'email';
    const reply = await this.ask(this.verify(type, 'abcdef'));
    const after = await this.facts();
    const counted = after.failedCodes - before.failedCodes;
    const recorded = after.MFA_CODE_WRONG - before.MFA_CODE_WRONG;
    if (after.sessions !== before.sessions) this.fail('a wrong code has opened a session', { before, after });
    if (reply === undefined) {
      if (counted > 1 || recorded > counted) this.fail('a wrong code without an answer', { before, after });
      this.note('wrong code: cut');
      return;
    }
    if (reply.code !== (this.person.totp ? 'AUTH_MFA_401001' : 'MFA_401001')) this.fail('a wrong code', reply);
    if (counted !== 1 || recorded !== 1) this.fail('the count of codes', { before, after });
    this.note('wrong code: done');
  }

  /** A code is spent exactly when its session is opened. */
  private async code(what: string, type: string, code: () => Promise<string> | string): Promise<Session | undefined> {
    const { logins } = await this.facts();
    const refusal = type === 'email' ? 'MFA_401001' : 'AUTH_MFA_401001';
    const make = async () => this.verify(type, await code());
    const reply = await this.once(what, make, (f) => f.logins === logins + 1, refusal);
    await this.assert('an accepted code has opened one session', (f) => f.logins === logins + 1 && f.openLogins === 0);
    return reply && { access: reply.body.data.access_token, refresh: reply.body.data.refresh_token };
  }

  /** @returns undefined when the answer with the tokens is lost */
  async session(): Promise<Session | undefined> {
    await this.passwordStep();
    return this.person.totp
      ? this.code('authenticator code', 'totp', () => authenticatorCode(secret, new Date()))
      : this.code('mailed code', 'email', () => this.mailed('otp'));
  }

  /** The code or the token of the link of the newest mail, from the mailbox or from the outbox. */
  private mailed(kind: 'otp' | 'reset-link'): Promise<string> {
    const { pair, smtp } = this.world;
    return eventually(
      async () => {
        const rows = await pair.rows<{ id: string; payload: string | null }>(
          'SELECT id, payload FROM mail_outbox WHERE user_id = ? AND kind = ? ORDER BY created_at DESC LIMIT 1',
          [this.uid, kind],
        );
        const [row] = rows;
        if (row === undefined) this.fail(`no mail of kind ${kind}`, rows);
        if (row.payload !== null) {
          const mail = openMail(keys, row.payload);
          if (mail.kind === 'otp') return mail.code;
          if (mail.kind === 'reset-link') return tokenIn(mail.link);
        }
        const text = smtp.messages.find(({ mail }) => mail.messageId?.startsWith(`<${row.id}@`))?.mail.text;
        if (text === undefined) return undefined;
        return kind === 'otp' ? /\b\d{6}\b/.exec(text)?.[0] : tokenIn(text);
      },
      { what: `the mail of kind ${kind} of ${this.uid}` },
    );
  }

  /** Each rotation leaves one successor. A repeated one gets the same successor. */
  async rotate({ refresh }: Session): Promise<Session> {
    const { successors } = await this.facts();
    for (;;) {
      const reply = await this.ask({ method: 'POST', path: '/refresh', body: { refresh_token: refresh } });
      const after = await this.facts();
      if (reply === undefined) {
        if (after.successors - successors > 1) this.fail('two successors of one refresh token', after);
        this.note(`refresh: cut ${after.successors > successors ? 'after the commit' : 'before it'}`);
        continue;
      }
      if (reply.code !== 'success') this.fail('refresh', reply);
      if (after.successors !== successors + 1) this.fail('one rotation, one successor', after);
      const { access_token, refresh_token } = reply.body.data;
      const stored = await this.world.pair.rows('SELECT successor_jti AS jti FROM login_tokens WHERE jti = ?', [
        claimsOf(refresh).jti,
      ]);
      if (!isDeepStrictEqual(stored, [{ jti: claimsOf(refresh_token).jti }])) this.fail('another successor', stored);
      this.note('refresh: done');
      return { access: access_token, refresh: refresh_token };
    }
  }

  /** A refresh token of two generations ago ends the session, and the audit says so once. */
  async reuse({ refresh }: Session): Promise<void> {
    for (let answered = false; !answered;) {
      const reply = await this.ask({ method: 'POST', path: '/refresh', body: { refresh_token: refresh } });
      answered = reply !== undefined;
      if (reply !== undefined && reply.code !== 'AUTH_401006') this.fail('a reused refresh token', reply);
      await this.assert(
        'the session ended exactly when the audit says so',
        (f) => f.REFRESH_TOKEN_REUSED === (f.liveTokens === 0 ? 1 : 0) && (!answered || f.liveTokens === 0),
      );
      this.note(`reuse: ${answered ? 'done' : 'cut'}`);
    }
  }

  async requestLink(): Promise<string> {
    const make = (): Request => ({ method: 'POST', path: '/forget-password', body: { email: mailOf(this.uid) } });
    await this.once('reset link', make, (f) => f.links === 1, 'AUTH_429002');
    await this.assert('one link waits', (f) => f.pendingLinks === 1 && f.linkMails === 1);
    return this.mailed('reset-link');
  }

  async resetPassword(): Promise<void> {
    const token = await this.requestLink();
    const chosen = passwords.second;
    const body = { req_uid: token, password: chosen, confirm_password: chosen };
    const make = (): Request => ({ method: 'POST', path: '/user/change-pwd-by-req', body });
    await this.once('password reset', make, (f) => f.history === 2, 'AUTH_401007');
    await this.assert('the link is used', (f) => f.pendingLinks === 0 && f.version === 1);
    await this.wrongPasswordOf(password);
    await this.passwordStep(chosen);
  }

  /** The former password is a wrong one now. */
  private async wrongPasswordOf(former: string): Promise<void> {
    const reply = await this.ask(this.login(former));
    if (reply !== undefined && reply.code !== 'LOGIN_401001') this.fail('the former password', reply);
  }

  async changeOwnPassword({ access }: Session): Promise<void> {
    const own = (current: string, chosen: string): Request => ({
      method: 'POST',
      path: '/user/change-password',
      bearer: access,
      body: { current_password: current, password: chosen, confirm_password: chosen },
    });
    if (this.random.next(2) === 0) {
      const before = await this.facts();
      const reply = await this.ask(own(passwords.wrong, passwords.third));
      const after = await this.facts();
      const counted = after.failedLogins - before.failedLogins;
      // Here the audit comes first, and then the counter.
      if (counted > 1 || after.CURRENT_PASSWORD_WRONG < counted) this.fail('a wrong current password', after);
      if (reply !== undefined && (reply.code !== 'LOGIN_401001' || counted !== 1)) this.fail('the counter', after);
    }
    const make = () => own(password, passwords.third);
    const reply = await this.once('own password', make, (f) => f.history === 2, 'AUTH_401004');
    await this.assert('one session is left', (f) => f.liveTokens === 2 && f.version === 1 && f.sessions === 2);
    if (reply !== undefined) await this.expectLive(reply.body.data.access_token, 200);
    await this.expectLive(access, 401);
  }

  /** The token works, or does not. */
  async expectLive(access: string, status: number): Promise<void> {
    const reply = await this.ask({ method: 'GET', path: '/user/me', bearer: access });
    if (reply !== undefined && reply.status !== status) this.fail('a token', reply);
  }

  async registerPasskey({ access }: Session): Promise<void> {
    const authenticator = new SoftAuthenticator(this.world.origin);
    for (let registered = false; !registered;) {
      const options = await this.ask({ method: 'POST', path: '/passkeys/options', bearer: access });
      if (options === undefined) continue;
      if (options.code !== 'success') this.fail('options', options);
      const response = authenticator.create(options.body.data);
      const request = { method: 'POST', path: '/passkeys', bearer: access, body: { name: 'Phone', response } } as const;
      const reply = await this.ask(request);
      registered = (await this.facts()).passkeys === 1;
      if (reply !== undefined && (reply.code !== 'success' || !registered)) this.fail('a passkey', reply);
      this.note(`passkey: ${reply !== undefined ? 'done' : registered ? 'cut after the commit' : 'cut before it'}`);
      // The challenge of a passkey that was added is spent, whatever the client was told.
      const again = registered && (await this.ask(request));
      if (again && again.code !== 'PASSKEY_400001') this.fail('a challenge was used twice', again);
    }
    await this.assert('one passkey', (f) => f.passkeys === 1);
    await this.logInByPasskey(authenticator);
  }

  private async logInByPasskey(authenticator: SoftAuthenticator): Promise<void> {
    const { logins } = await this.facts();
    const challenge = await this.ask({ method: 'POST', path: '/login/passkey-options', body: {} });
    if (challenge === undefined) return;
    const { challenge_id, options } = challenge.body.data;
    const body = { challenge_id, response: authenticator.get(options) };
    for (let attempt = 0, opened = 0; ; attempt++) {
      const reply = await this.ask({ method: 'POST', path: '/login/passkey', body });
      const now = (await this.facts()).logins - logins;
      if (now > 1) this.fail('one challenge has opened two sessions', now);
      if (reply === undefined) {
        opened = now;
        this.note('passkey login: cut');
        continue;
      }
      // A process that died after it has spent the challenge leaves a challenge that nobody can use.
      const expected = reply.code === 'success' ? now === 1 && opened === 0 : now === opened && attempt > 0;
      if (!expected || !['success', 'PASSKEY_401001'].includes(reply.code)) this.fail('passkey login', reply);
      this.note('passkey login: done');
      return;
    }
  }

  async useRecoveryCode({ access }: Session): Promise<void> {
    let codes: string[] | undefined;
    while (codes === undefined) {
      const reply = await this.ask({ method: 'POST', path: '/recovery-codes', bearer: access });
      if (reply !== undefined && reply.code !== 'success') this.fail('recovery codes', reply);
      codes = reply?.body.data.codes as string[] | undefined;
      this.note(`recovery codes: ${codes === undefined ? 'cut' : 'done'}`);
    }
    await this.assert('ten codes', (f) => f.codesLeft === 10);
    await this.passwordStep();
    await this.code('recovery code', 'recovery', () => codes[0]!);
    await this.assert('one code is spent', (f) => f.codesLeft === 9 && f.codesSpent === 1);
    await this.passwordStep();
    const again = await this.ask(this.verify('recovery', codes[0]!));
    if (again !== undefined && again.code !== 'AUTH_MFA_401001') this.fail('a spent code', again);
    await this.assert('one code is spent', (f) => f.codesSpent === 1);
  }

  async changeByAdministrator(): Promise<void> {
    const { method, path, body, made } = this.random.pick(changes);
    const { access } = this.random.pick(this.world.admins);
    const request: Request = { method, path: `/admin/users/${this.uid}${path}`, bearer: access, body };
    for (;;) {
      const reply = await this.ask(request);
      const facts = await this.facts();
      this.note(
        `${method} ${path}: ${reply !== undefined ? 'done' : made(facts) ? 'cut after the commit' : 'cut before it'}`,
      );
      if (reply === undefined && !made(facts)) continue;
      if (reply !== undefined && reply.code !== 'success') this.fail(`${method} ${path}`, reply);
      if (!made(facts)) this.fail(`${method} ${path} was answered and has not happened`, facts);
      return;
    }
  }

  async erase(): Promise<void> {
    const { access } = this.random.pick(this.world.admins);
    const make = (): Request => ({ method: 'DELETE', path: `/admin/users/${this.uid}`, bearer: access });
    await this.once('erasure', make, (f) => f.isDeleted === 1, 'USER_404001');
  }
}

interface AdminChange extends Pick<Request, 'method' | 'path' | 'body'> {
  readonly made: (f: Facts) => boolean;
}

const changes: readonly AdminChange[] = [
  { method: 'PATCH', path: '', body: { status: -1 }, made: (f) => f.status === -1 && f.version === 1 },
  { method: 'PATCH', path: '', body: { email: null }, made: (f) => f.hasEmail === 0 },
  { method: 'POST', path: '/unlock', made: (f) => f.USER_UNLOCKED === 1 && f.failedLogins === 0 },
  { method: 'POST', path: '/revoke-sessions', made: (f) => f.USER_TOKENS_REVOKED === 1 && f.liveTokens === 0 },
  { method: 'POST', path: '/invite', made: (f) => f.invitations === 1 },
  { method: 'POST', path: '/send-reset-link', made: (f) => f.links === 1 },
];

function tokenIn(text: string): string {
  const token = /[?&]uid=([\w-]+)/.exec(text)?.[1];
  if (token === undefined) throw new Error('the mail has no link');
  return token;
}

function claimsOf(jwt: string): { jti: string } {
  return JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString());
}

type Tale = (story: Story) => Promise<void>;

/** Goes on only with the tokens: a client whose answer is lost has none. */
const signedIn =
  (next: (story: Story, session: Session) => Promise<void>): Tale =>
  async (story) => {
    const session = await story.session();
    if (session !== undefined) await next(story, session);
  };

const tales: Readonly<Record<string, Tale>> = {
  'wrong passwords': async (story) => {
    const times = 1 + story.random.next(4);
    for (let n = 0; n < times; n++) await story.wrongPassword();
    if ((await story.facts()).failedLogins < 3) await story.passwordStep();
  },
  'wrong codes': async (story) => {
    await story.passwordStep();
    for (let n = 0; n < 2; n++) await story.wrongCode();
  },
  login: signedIn((story, { access }) => story.expectLive(access, 200)),
  rotation: signedIn(async (story, first) => {
    const second = await story.rotate(first);
    const third = await story.rotate(second);
    await story.expectLive(third.access, 200);
    if (story.random.next(2) === 0) await story.reuse(first);
  }),
  reset: (story) => story.resetPassword(),
  'own password': signedIn((story, session) => story.changeOwnPassword(session)),
  passkey: signedIn((story, session) => story.registerPasskey(session)),
  'recovery code': signedIn((story, session) => story.useRecoveryCode(session)),
  administrator: async (story) => {
    if (story.random.next(2) === 0) await story.wrongPassword();
    await story.changeByAdministrator();
  },
  erasure: async (story) => {
    await story.session();
    await story.erase();
  },
};

/**
 * Tells stories of new people, one after the other, until `goesOn` says no.
 * @param ended is told what the database says at the end of each story: nothing may change it later
 */
export async function tellStories(
  world: World,
  random: SeededNumbers,
  goesOn: () => boolean,
  ended: (facts: Facts) => void,
): Promise<void> {
  const names = Object.keys(tales);
  while (goesOn()) {
    const name = random.pick(names);
    // A second mailed code within a minute is refused, so who logs in twice has an authenticator.
    const totp = name === 'recovery code' || random.next(2) === 0;
    const story = new Story(world, random, await givenPerson(world, { totp }));
    await tales[name]!(story).catch((error: Error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error });
    });
    ended(await story.facts());
    await pause(0);
  }
}

/** Administrators with a session. */
export async function givenAdministrators(world: Omit<World, 'admins'>, count: number, random: SeededNumbers) {
  const admins: Person[] = [];
  for (let n = 0; n < count; n++) {
    const person = await givenPerson(world, { totp: true, isAdmin: true });
    const story = new Story({ ...world, admins: [] }, random, person);
    let session: Session | undefined;
    while (session === undefined) session = await story.session();
    admins.push({ ...person, access: session.access });
  }
  return admins;
}
