import { decodeJwt } from 'jose';
import { openMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing, sha256Hex } from '../../src/platform/crypto/key-ring';
import type { User as ServiceUser } from '../../src/users/user.entity';
import { tokenOf } from '../support/admin';
import { type Answer as Received, TestService } from '../support/app';
import { withMetrics } from '../support/everything';
import { FakeClock } from '../support/fakes';
import { HostileProvider } from '../support/hostile-provider';
import { mailsStay } from '../support/mfa';
import { ScimClient } from '../support/scim/client';
import { type ClientRequest, type Clients, isOfClient } from './clients';
import { bool, seconds, secondsOrNull, sidPrefix } from './columns';
import type { AdminAction, Answer, Request, Rows, State } from './state';
import { externalId, isOfVisitor, type VisitorRequest, type Visitors } from './visitors';

const settings = {
  ...mailsStay,
  ADMIN_API: 'on',
  OIDC: 'on',
  SCIM: 'on',
  ADMIN_REQUIRES_MFA: 'false',
  MFA_TRUSTED_DEVICE_DAYS: '30',
  // These mails come by real time, which the model does not know.
  PASSWORD_EXPIRY_WARN_DAYS: 'off',
};
const withoutFactor = { ...settings, REFRESH_TOKEN_ROTATION: 'true' };
const withFactor = { ...settings, MFA_REQUIRED: 'true' };

/** The service beside the model: the replicas that answer the requests, on one database and one clock. */
export class Services {
  private constructor(
    readonly clock: FakeClock,
    private readonly replicas: { readonly plain: TestService[]; readonly mfa: TestService[] },
    private readonly operator: ServiceUser,
    /** Two replicas answer requests at the same moment only on a server: SQLite is for one process. */
    readonly raced: boolean,
    readonly scim: ScimClient,
    readonly company: HostileProvider,
  ) {}

  /** On MariaDB with everything on. @param count replicas of each kind */
  static async start(count: number): Promise<Services> {
    const more = async () => (__DATABASE__ === 'mariadb' ? withMetrics() : {});
    const first = await TestService.start({ ...(await more()), ...withoutFactor });
    const { store, clock } = first;
    const start = async (settings: Record<string, string>) =>
      TestService.start({ ...(await more()), ...settings }, { store, clock });
    const plain = [first];
    const mfa: TestService[] = [];
    while (plain.length < count) plain.push(await start(withoutFactor));
    while (mfa.length < count) mfa.push(await start(withFactor));
    const operator = await first.givenUser('operator', { isAdmin: true, password: null });
    const scim = await ScimClient.of(first);
    // The packages that speak to it read the clock of this machine.
    const company = await HostileProvider.start(() => new Date());
    return new Services(clock, { plain, mfa }, operator, __DATABASE__ === 'mariadb', scim, company);
  }

  async stop(): Promise<void> {
    const [first, ...others] = [...this.replicas.plain, ...this.replicas.mfa];
    for (const service of others) await service.stop({ keepStore: true });
    await first!.stop();
    await this.company.stop();
  }

  of(mfa: boolean): TestService[] {
    return mfa ? this.replicas.mfa : this.replicas.plain;
  }

  administrator(service: TestService): Promise<string> {
    return tokenOf(service, this.operator);
  }
}

/** One history's users in the service: sends the requests of the model, and reads the answers and rows in its words. */
export class Subject {
  /** The text of a token by its `jti`. */
  private readonly tokens = new Map<string, string>();
  /** Links and device tokens by the hash that the tables hold. */
  private readonly secrets = new Map<string, string>();
  private readonly seenMails = new Set<string>();
  private lastLog = 0;
  private sent = 0;

  constructor(
    private readonly services: Services,
    private readonly replicas: readonly TestService[],
    private readonly uids: string[],
    private readonly clients: Clients,
    private readonly visitors: Visitors,
  ) {}

  /** The replicas answer in turn. */
  sendAll(requests: readonly Request[], state: State): Promise<Answer[]> {
    const alternate = requests.length === 1 || this.services.raced;
    if (!alternate) this.sent++;
    const next = () => this.replicas[(alternate ? this.sent++ : this.sent) % this.replicas.length]!;
    return Promise.all(requests.map((request) => this.send(request, state, next)));
  }

  private async send(request: Request, { users }: State, next: () => TestService): Promise<Answer> {
    if (isOfClient(request)) return this.clients.send(request, next, (token) => this.tokens.get(token)!);
    if (isOfVisitor(request)) return this.visitors.send(request, next);
    const service = next();
    const received = await this.receive(
      service,
      request,
      users.map(({ name, email }) => ({ name, email })),
    );
    return this.answer(request, received);
  }

  private async receive(
    service: TestService,
    request: Exclude<Request, ClientRequest | VisitorRequest>,
    users: { readonly name: string; readonly email: string | null }[],
  ): Promise<Received> {
    const bearer = 'token' in request ? this.tokens.get(request.token) : undefined;
    const uid = 'user' in request ? this.uids[request.user] : undefined;
    switch (request.op) {
      case 'login':
        return service.login(users[request.user]!.name, request.password, { device_token: request.device });
      case 'verify': {
        const { type, code, trust, owner, bearer: own } = request;
        const body = { uid, type, code, mfa_token: owner.mfaToken, trust_device: trust };
        return service.post('/otp-verify', body, { ip: owner.ip, bearer: own && this.tokens.get(own) });
      }
      case 'resend': {
        const { type, owner } = request;
        return service.post('/otp-resend', { uid, type, mfa_token: owner.mfaToken }, { ip: owner.ip });
      }
      case 'refresh':
        return service.post('/refresh', undefined, { bearer });
      case 'logout':
        return service.post('/logout', undefined, { bearer });
      case 'me':
        return service.get('/user/me', { bearer });
      case 'sessions':
        return service.get('/user/sessions', { bearer });
      case 'endOthers':
        return service.send('DELETE', '/user/sessions', undefined, { bearer });
      case 'endSession':
        return service.send('DELETE', `/user/sessions/${request.sid.slice(sidPrefix.length)}`, undefined, { bearer });
      case 'recoveryCodes':
        return service.post('/recovery-codes', undefined, { bearer });
      case 'devices':
        return service.get('/user/devices', { bearer });
      case 'removeDevice':
        return service.send('DELETE', `/user/devices/${request.id}`, undefined, { bearer });
      case 'enrol':
        return service.post('/totp-secret', { code: request.code }, { bearer });
      case 'forgot':
        return service.post('/forget-password', { email: users[request.user]!.email });
      case 'look':
        return service.get(`/user/change-pwd-req/${request.link}`);
      case 'submit': {
        const { link: req_uid, password, confirm: confirm_password } = request;
        return service.post('/user/change-pwd-by-req', { req_uid, password, confirm_password });
      }
      case 'change': {
        const { current: current_password, password, confirm: confirm_password } = request;
        return service.post('/user/change-password', { current_password, password, confirm_password }, { bearer });
      }
      case 'redeem': {
        const { code, device: device_token } = request;
        const headers = this.visitors.cookieOf(code);
        return service.post('/login/external', { code, device_token }, { headers });
      }
      case 'move': {
        const place = { identity_provider: this.visitors.id, external_id: externalId(request.user) };
        const body = { provider: request.to, ...(request.to === 'oidc' && place) };
        return service.post(`/admin/users/${uid}/provider`, body, {
          bearer: await this.services.administrator(service),
        });
      }
      case 'admin': {
        const administrator =
          request.by === null ? await this.services.administrator(service) : this.tokens.get(request.by);
        return administrate(service, `/admin/users/${uid}`, request.action, administrator!);
      }
    }
  }

  /** The answer in the words of the model. */
  private answer({ op }: Request, { status, body }: Received): Answer {
    const { data } = body as { data?: Record<string, any> };
    if (status !== 200) {
      return {
        code: body.error_code as string,
        ...(data?.retry_after !== undefined && { retry_after: data.retry_after }),
      };
    }
    const { access_token, refresh_token, expired, created_at, password_expires_at, ...rest } = data!;
    for (const secret of [rest.change_uid, rest.device_token]) this.remember(secret);
    const pair = typeof access_token === 'string' ? this.pair(access_token, refresh_token as string) : { access: null };
    const times = { expired, created_at, password_expires_at };
    const answer = { code: 'success', ...rest, ...pair, ...inSeconds(times) };
    if (op === 'me') return { ...answer, sid: sidPrefix + rest.session.sid, amr: rest.session.amr };
    const withPrefix = (one: { sid: string }) => inSeconds({ ...one, sid: sidPrefix + one.sid });
    const sessions = op === 'sessions' && (rest.sessions as { sid: string }[]).map(withPrefix);
    const devices = op === 'devices' && (rest.devices as object[]).map(inSeconds);
    return { ...answer, ...(sessions && { sessions }), ...(devices && { devices }) };
  }

  private pair(access: string, refresh: string): object {
    const [{ jti, sid, amr }, { jti: next }] = [decodeJwt(access), decodeJwt(refresh)];
    this.tokens.set(jti!, access).set(next!, refresh);
    return { access: jti, refresh: next, sid: sidPrefix + String(sid), amr };
  }

  private remember(secret: unknown): void {
    if (typeof secret === 'string') this.secrets.set(sha256Hex(secret), secret);
  }

  /** The tables in the words of the model. Of mails and login logs only the new ones. */
  async rows(): Promise<Rows> {
    const mails = await this.newMails();
    const all = await Promise.all(
      Object.entries(statements).map(async ([name, sql]) => [name, await this.select(sql)] as const),
    );
    const ofClients = await this.clients.rows((sql) => this.select(sql));
    const ofVisitors = await this.visitors.rows((sql) => this.select(sql), seconds(this.services.clock.now()));
    const { users, login_tokens, links, pending_logins, totp_secrets, trusted_devices, passwords } =
      Object.fromEntries(all);
    const order = (one: any, other: any) => this.uids.indexOf(one.uid) - this.uids.indexOf(other.uid);
    const open = new Map<unknown, boolean>(links!.map((row) => [this.secrets.get(row.token_hash), bool(row.open)]));
    return {
      users: [...users!].sort(order).map(({ uid, ...row }) => ({
        ...row,
        user: this.uids.indexOf(uid),
        ...{
          is_admin: bool(row.is_admin),
          must_change_password: bool(row.must_change_password),
          has_secret: bool(row.has_secret),
        },
        recovery_codes: Number(row.recovery_codes),
        last_login_failed_time: secondsOrNull(row.last_login_failed_time),
        last_login_success_time: secondsOrNull(row.last_login_success_time),
        mfa_blocked_until: secondsOrNull(row.mfa_blocked_until),
      })),
      login_tokens: login_tokens!.map((row) => this.row({ ...row, sid: sidPrefix + row.sid, live: bool(row.live) })),
      links: links!.map((row) => this.row({ ...row, token: this.secrets.get(row.token_hash), open: bool(row.open) })),
      pending_logins: pending_logins!.map((row) => this.row({ ...row, open: bool(row.open) })),
      totp_secrets: totp_secrets!.map((row) =>
        this.row({ ...row, sid: row.sid === null ? null : sidPrefix + row.sid, confirmed: bool(row.confirmed) }),
      ),
      trusted_devices: trusted_devices!.map((row) =>
        this.row({ ...row, token: this.secrets.get(row.token_hash), live: bool(row.live) }),
      ),
      passwords: passwords!.map((row) => this.row(row)),
      mails: mails.map((mail) => ({ ...mail, open: open.get(mail.secret) ?? null })),
      login_logs: await this.newLogs(),
      ...ofClients,
      ...ofVisitors,
    };
  }

  private row(columns: Record<string, any>): object {
    const { user_id, ...row } = columns;
    delete row.token_hash;
    const times = ['expires', 'at', 'last_used_at'].filter((name) => name in row);
    return {
      ...row,
      user: this.uids.indexOf(user_id),
      ...Object.fromEntries(times.map((name) => [name, secondsOrNull(row[name])])),
    };
  }

  private async newMails(): Promise<{ user: number; kind: string; secret: string | null }[]> {
    const service = this.replicas[0]!;
    const rows = await this.select(
      'SELECT id, user_id, payload FROM mail_outbox WHERE user_id IN (?, ?) AND payload IS NOT NULL',
    );
    return rows
      .filter(({ id }) => !this.seenMails.has(id) && this.seenMails.add(id))
      .map(({ user_id, payload }) => {
        const mail = openMail(service.app.get(KeyRing), payload as string);
        const secret =
          mail.kind === 'otp'
            ? mail.code
            : mail.kind === 'reset-link'
              ? new URL(mail.link).searchParams.get('uid')
              : null;
        if (mail.kind === 'reset-link') this.remember(secret);
        return { user: this.uids.indexOf(user_id), kind: mail.kind, secret };
      });
  }

  private async newLogs(): Promise<object[]> {
    const rows = await this.select(
      `SELECT id, user_id, outcome, mfa FROM login_logs WHERE user_id IN (?, ?) AND id > ${this.lastLog} ORDER BY id`,
    );
    this.lastLog = Number(rows.at(-1)?.id ?? this.lastLog);
    return rows.map(({ user_id, outcome, mfa }) => ({ user: this.uids.indexOf(user_id), outcome, mfa }));
  }

  private select(sql: string): Promise<Record<string, any>[]> {
    const places = this.uids.map(() => '?').join(', ');
    return this.replicas[0]!.database.rows(sql.replace('IN (?, ?)', `IN (${places})`), [...this.uids]);
  }
}

function inSeconds(fields: Record<string, any>): Record<string, any> {
  const times = ['expired', 'created_at', 'last_used_at', 'password_expires_at'];
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      times.includes(name) && typeof value === 'string' ? seconds(new Date(value)) : (value as unknown),
    ]),
  );
}

function administrate(service: TestService, path: string, action: AdminAction, bearer: string): Promise<Received> {
  if (typeof action === 'object') return service.send('PATCH', path, action, { bearer });
  if (action === 'erase') return service.send('DELETE', path, undefined, { bearer });
  return service.post(`${path}/${action}`, undefined, { bearer });
}

const ofUsers = 'u.uid IN (?, ?)';

/** What no longer counts because of a newer credential version is shown as ended, whatever its own column says. */
const statements = {
  users: `SELECT uid, provider, email, status, is_admin, must_change_password, login_failed_count, last_login_failed_time,
    last_login_success_time, mfa_type, topt_secret IS NOT NULL AS has_secret, mfa_failed_count, mfa_blocked_until,
    (SELECT COUNT(*) FROM recovery_codes r WHERE r.user_id = u.uid AND r.used_at IS NULL) AS recovery_codes
    FROM users u WHERE ${ofUsers}`,
  login_tokens: `SELECT t.jti, t.token_type, t.sid, t.expires, t.successor_jti AS successor, t.user_identity AS user_id,
    t.is_revoked = 0 AND s.is_revoked = 0 AND t.credential_version = u.credential_version AS live
    FROM login_tokens t JOIN login_tokens s ON s.jti = t.sid JOIN users u ON u.uid = t.user_identity WHERE ${ofUsers}`,
  links: `SELECT r.uid, r.token_hash, r.user_id, r.type, r.expired AS expires,
    r.status = 0 AND r.credential_version = u.credential_version AS open
    FROM user_change_password_request r JOIN users u ON u.uid = r.user_id WHERE ${ofUsers}`,
  pending_logins: `SELECT p.user_id, p.channel, p.attempts, p.expires,
    p.is_closed = 0 AND p.credential_version = u.credential_version AS open
    FROM pending_logins p JOIN users u ON u.uid = p.user_id WHERE ${ofUsers}`,
  totp_secrets: `SELECT t.user_id, t.sid, t.attempts, t.confirmed_at IS NOT NULL AS confirmed
    FROM totp_secrets t JOIN users u ON u.uid = t.user_id WHERE ${ofUsers}`,
  trusted_devices: `SELECT d.id, d.user_id, d.token_hash, d.last_used_at,
    d.ended_at IS NULL AND d.credential_version = u.credential_version AS live
    FROM trusted_devices d JOIN users u ON u.uid = d.user_id WHERE ${ofUsers}`,
  passwords: `SELECT p.user_id, p.type, p.created_at AS at
    FROM user_change_pwd_logs p JOIN users u ON u.uid = p.user_id WHERE ${ofUsers} ORDER BY p.id`,
};
