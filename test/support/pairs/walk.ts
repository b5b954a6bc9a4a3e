import { ServiceClients } from '../../../src/introspection/service-client.repository';
import { EventOutbox } from '../../../src/events/event-outbox';
import { MailOutbox } from '../../../src/mail/mail-outbox';
import type { User } from '../../../src/users/user.entity';
import { type Answer, password, type TestService } from '../app';
import { givenIdentityProvider } from '../identity-providers';
import { directoryPassword } from '../ldap';
import { authenticatorCode, MfaClient } from '../mfa';
import { claimsOf, givenApplication } from '../openid';
import { ProofMaker } from '../proof';
import { captchaToken } from '../settings';
import type { Counterparts } from './counterparts';

type Method = 'GET' | 'POST' | 'PATCH' | 'OPTIONS';

interface Asked {
  readonly body?: unknown;
  /** An access token or a refresh token, with a proof where the service binds tokens. */
  readonly token?: string;
  readonly headers?: Record<string, string>;
  /** The path is not below API_PREFIX. */
  readonly atRoot?: boolean;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const basic = (id: string, secret = '') => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const newPassword = 'Another-Stone-9';

/**
 * The main stories of the service, with the answers that its settings make right. The answers are collected, so that a row
 * shows all of its faults.
 */
export class Walk {
  private readonly answers: Record<string, string> = {};
  private readonly right: Record<string, string> = {};
  private readonly mfa: MfaClient;
  private readonly proofs: ProofMaker;
  private captchas = 0;

  private constructor(
    private readonly service: TestService,
    private readonly env: Readonly<Record<string, string>>,
    private readonly others: Counterparts,
  ) {
    this.mfa = new MfaClient(service);
    this.proofs = ProofMaker.make(service.clock, { origin: env.SYSTEM_URL });
  }

  static async through(
    service: TestService,
    env: Readonly<Record<string, string>>,
    others: Counterparts,
  ): Promise<Walk> {
    const walk = new Walk(service, env, others);
    await walk.documents();
    await walk.ownAccount();
    await walk.refusedLogins();
    await walk.otherSystems();
    await walk.administration();
    await walk.nonsense();
    await walk.leaving();
    return walk;
  }

  /** The wrong answers, a line each. */
  get faults(): string[] {
    return Object.entries(this.right)
      .filter(([what, right]) => this.answers[what] !== right)
      .map(([what, right]) => `${what}: ${this.answers[what]} instead of ${right}`);
  }

  private on = (name: string): boolean => this.env[name] === 'on' || this.env[name] === 'true';

  /** What applications and pages read before anybody signs in. */
  private async documents(): Promise<void> {
    const { env } = this;
    const root = { atRoot: true };
    await this.expect('200', 'GET', '/health/live', root);
    await this.expect('200', 'GET', '/health/ready', root);
    await this.expect('200', 'GET', '/openapi.json', root);
    await this.expect('200', 'GET', '/.well-known/jwks.json', root);
    await this.expect(env.API_DOCS === 'true' ? '200' : 'COMMON_404001', 'GET', '/docs', root);
    await this.expect(this.on('PORTAL') ? '200' : 'COMMON_404001', 'GET', '/', root);
    await this.expect('200', 'GET', '/password-policy');
    const { body } = await this.expect('200', 'GET', '/capabilities');
    this.compare('capabilities', pick(body.data, ['providers', 'login_by_email', 'passkeys', 'token_binding', 'mfa']), {
      providers: env.LDAP_URL === undefined ? ['password'] : ['password', 'ldap'],
      login_by_email: this.on('LOGIN_BY_EMAIL'),
      passkeys: this.hasPasskeys,
      token_binding: env.TOKEN_BINDING,
      mfa: { false: 'never', enrolled: 'enrolled', true: 'always' }[env.MFA_REQUIRED!],
    });
    await this.expect('200', 'POST', '/login/discover', { body: { username: 'ann@example.com' } });
    await this.expect(this.captchaNames.includes('altcha') ? '200' : 'COMMON_404001', 'GET', '/captcha/challenge');
    await this.expect('200', 'POST', '/verify-captcha', { body: { captcha_token: this.captcha() } });
    await this.expect(this.hasPasskeys ? '200' : 'COMMON_404001', 'POST', '/login/passkey-options', { body: {} });
    const metrics = env.METRICS_PORT && (await fetch(`http://127.0.0.1:${env.METRICS_PORT}/metrics`));
    this.compare('metrics', metrics ? metrics.status : 'off', env.METRICS_PORT === undefined ? 'off' : 200);
  }

  /** Somebody signs in, looks at everything of their own, and adds an authenticator. */
  private async ownAccount(): Promise<void> {
    const ann = await this.service.givenUser('ann');
    const { access, refresh } = await this.signIn('ann', ann);
    const mine = { token: access };
    const next = await this.expect('200', 'POST', '/refresh', { token: refresh });
    this.compare('rotation', next.body.data?.refresh_token !== refresh, this.on('REFRESH_TOKEN_ROTATION'));
    await this.expect('200', 'GET', '/user/me', mine);
    for (const path of ['/verify', '/user/sessions', '/user/login-history', '/user/devices', '/recovery-codes'])
      await this.expect('200', 'GET', path, mine);
    await this.expect(this.hasPasskeys ? '200' : 'COMMON_404001', 'GET', '/passkeys', mine);
    for (const path of ['/user/applications', '/user/grants'])
      await this.expect(this.on('OIDC') ? '200' : 'COMMON_404001', 'GET', path, mine);
    const { id, secret } = await this.service.app.get(ServiceClients).create('invoices');
    const body = new URLSearchParams({ token: access }).toString();
    const { body: told } = await this.expect('200', 'POST', '/introspect', {
      ...{ body, headers: { ...form, ...basic(id, secret) } },
    });
    this.compare('introspection', told.active, true);
    const { body: enrolment } = await this.expect('200', 'POST', '/totp-secret', mine);
    const totp = String(enrolment.data?.secret);
    const code = () => authenticatorCode(totp, this.service.clock.now());
    await this.expect('200', 'POST', '/otp-verify', {
      body: { uid: ann.uid, type: 'totp', code: code() },
      token: access,
    });
    await this.signIn('ann', ann, { totp: code, title: 'with the authenticator' });
    const byEmail = { username: 'ann@example.com', password };
    await this.login(this.on('LOGIN_BY_EMAIL') ? '200' : this.unknown, 'by the address', byEmail);
  }

  private async refusedLogins(): Promise<void> {
    await this.login('LOGIN_401001', 'with a wrong password', { username: 'ann', password: 'Wrong-Horse-7' });
    await this.login(this.unknown, 'of nobody', { username: 'nobody', password });
    const known = { body: { email: 'ann@example.com' } };
    const unknown = { body: { email: 'nobody@example.com' } };
    await this.expect('200', 'POST', '/forget-password', known);
    await this.expect(
      this.on('HIDE_ACCOUNT_EXISTENCE') ? '200' : 'AUTH_404002',
      'POST',
      '/forget-password',
      unknown,
      'of nobody',
    );
  }

  /** The directory, the old system, SCIM and an application. */
  private async otherSystems(): Promise<void> {
    const { env, service } = this;
    const provisioned = env.LDAP_URL !== undefined && this.on('LDAP_JIT_PROVISIONING');
    const dora = { username: 'dora', password: directoryPassword, provider: 'ldap' };
    await this.login(provisioned ? '200' : this.unknown, 'of the directory', dora);
    this.others.legacy.passwords.set('olga', password);
    await service.givenUser('olga', { password: null, legacyLogin: true });
    const olga = { username: 'olga', password };
    await this.login(env.LEGACY_VERIFY_URL === undefined ? 'LOGIN_401001' : '200', 'of the old system', olga);
    await givenIdentityProvider(service);
    const { token } = await service.app.get(ServiceClients).createScim('a directory', {});
    service.secrets.add('a token of SCIM', token);
    const scim = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
    const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'sam' };
    const hasScim = (status: string) => (this.on('SCIM') ? status : 'COMMON_404001');
    await this.expect(hasScim('200'), 'GET', '/scim/v2/ServiceProviderConfig', { headers: scim });
    await this.expect(hasScim('201'), 'POST', '/scim/v2/Users', { headers: scim, body: JSON.stringify(user) });
    await this.expect(hasScim('200'), 'GET', '/scim/v2/Users?filter=userName%20eq%20%22sam%22', { headers: scim });
    await this.application();
  }

  private async application(): Promise<void> {
    const { env, service } = this;
    const issuer = env.OIDC_ISSUER ?? `${env.SYSTEM_URL}/oidc`;
    const { pathname } = new URL(issuer);
    const hasOidc = (status: string) => (this.on('OIDC') ? status : 'COMMON_404001');
    const discovery = `${pathname}/.well-known/openid-configuration`;
    const { body } = await this.expect(hasOidc('200'), 'GET', discovery, { atRoot: true });
    if (this.on('OIDC')) this.compare('issuer', body.issuer, issuer);
    const audience = ['https://orders.example.com'];
    const { id, secret } = await givenApplication(service, {
      ...{ type: 'service', redirectUris: [], audience, scopes: ['orders:read'] },
    });
    const grant = { grant_type: 'client_credentials', resource: audience[0]!, scope: 'orders:read' };
    // The body parser comes before the answer that there is nothing.
    const { body: tokens } = await this.expect(this.on('OIDC') ? '200' : 'COMMON_415001', 'POST', `${pathname}/token`, {
      ...{ atRoot: true, body: new URLSearchParams(grant).toString(), headers: { ...form, ...basic(id, secret) } },
    });
    if (this.on('OIDC')) this.compare('claims', claimsOf(String(tokens.access_token)).sub, id);
  }

  private async administration(): Promise<void> {
    const { env } = this;
    const ada = await this.service.givenUser('ada', { isAdmin: true });
    const { access } = await this.signIn('ada', ada);
    const allowed = env.ADMIN_REQUIRES_MFA === 'false' || env.MFA_REQUIRED === 'true';
    const expected = (more = true) =>
      !this.on('ADMIN_API') || !more ? 'COMMON_404001' : allowed ? '200' : 'AUTH_403001';
    const always = ['overview', 'users?query=ann', 'audit-logs', 'login-logs', 'config', 'settings', 'mails', 'brand'];
    for (const path of [...always, 'identity-providers', 'groups', `users/${ada.uid}`])
      await this.expect(expected(), 'GET', `/admin/${path}`, { token: access });
    await this.expect(expected(this.on('OIDC')), 'GET', '/admin/applications', { token: access });
    await this.expect(expected(this.on('EVENT_RECEIVERS')), 'GET', '/admin/event-receivers', { token: access });
  }

  private async nonsense(): Promise<void> {
    await this.expect('COMMON_404001', 'GET', '/nonsense');
    await this.expect('COMMON_405001', 'PATCH', '/login', { body: {} });
    const json = { 'content-type': 'application/json' };
    await this.expect('COMMON_400001', 'POST', '/login', { body: '{', headers: json }, 'of half a body');
    await this.expect('AUTH_401001', 'GET', '/user/me', { headers: { authorization: 'Bearer wrong' } }, 'of nobody');
    const origin = 'https://pages.example.com';
    const preflight = { origin, 'access-control-request-method': 'POST' };
    const cors = this.env.CORS_ORIGINS !== undefined;
    const { headers } = await this.expect(cors ? '204' : 'COMMON_405001', 'OPTIONS', '/login', { headers: preflight });
    this.compare('origin', headers['access-control-allow-origin'], cors ? origin : undefined);
  }

  /** Mails and events leave, and so does the user. */
  private async leaving(): Promise<void> {
    const { service, others, env } = this;
    const bea = await service.givenUser('bea');
    const { access } = await this.signIn('bea', bea);
    const change = { current_password: password, password: newPassword, confirm_password: newPassword };
    await this.expect('200', 'POST', '/user/change-password', { body: change, token: access });
    await this.expect('AUTH_401004', 'GET', '/user/me', { token: access }, 'after the change');
    const again = await this.signIn('bea', bea, { typed: newPassword, title: 'after the change' });
    await this.expect('200', 'POST', '/logout', { token: again.access });
    await this.expect('AUTH_401004', 'GET', '/user/me', { token: again.access }, 'after the logout');
    await service.app.get(MailOutbox).sendDue();
    await service.app.get(EventOutbox).sendDue();
    this.compare('mails', others.smtp.messages.length > 0, env.SMTP_URL !== undefined);
    this.compare('events', others.webhook.accepted.length > 0, env.WEBHOOK_URL !== undefined);
  }

  /** @param totp the code of the authenticator that the user has */
  private async signIn(
    username: string,
    user: User,
    { totp, typed = password, title = '' }: { totp?: () => string; typed?: string; title?: string } = {},
  ): Promise<{ access: string; refresh: string }> {
    const { body } = await this.login('200', `of ${username} ${title}`.trim(), { username, password: typed });
    const rule = this.env.MFA_REQUIRED;
    const asked = rule === 'true' || (rule === 'enrolled' && totp !== undefined);
    this.compare(`second factor of ${username} ${title}`.trim(), body.data?.mfa_required ?? false, asked);
    if (!asked) return pairOf(body);
    const code = totp?.() ?? (await this.mfa.lastCode(user));
    const type = totp === undefined ? 'email' : 'totp';
    const mfa_token = body.data?.mfa_token as string;
    const verified = await this.expect(
      '200',
      'POST',
      '/otp-verify',
      { body: { uid: user.uid, type, code, mfa_token } },
      `of ${username} ${title}`,
    );
    return pairOf(verified.body);
  }

  private login(expected: string, title: string, body: Record<string, unknown>): Promise<Answer> {
    // The cooldown of mails is over, and the time step of a code.
    this.service.clock.advanceSeconds(61);
    return this.expect(expected, 'POST', '/login', { body: { ...body, captcha_token: this.captcha() } }, title);
  }

  /** The answer to a name that nobody has. */
  private get unknown(): string {
    return this.on('HIDE_ACCOUNT_EXISTENCE') ? 'LOGIN_401001' : 'LOGIN_404001';
  }

  private get bound(): boolean {
    return this.env.TOKEN_BINDING === 'required';
  }

  private get hasPasskeys(): boolean {
    return this.on('PASSKEYS') && new URL(this.env.SYSTEM_URL!).hostname === 'portal.test';
  }

  private get captchaNames(): string[] {
    return (this.env.CAPTCHA_PROVIDER ?? 'altcha').split(',');
  }

  /** A token that is good for one request. */
  private captcha(): string {
    return this.captchaNames[0] === 'altcha' ? captchaToken : `token-of-the-provider-${++this.captchas}`;
  }

  private async expect(
    outcome: string,
    method: Method,
    path: string,
    { body, token, headers = {}, atRoot = false }: Asked = {},
    title = '',
  ): Promise<Answer> {
    const url = atRoot ? path : `${this.env.API_PREFIX ?? ''}${path}`;
    const given = { 'x-forwarded-for': '203.0.113.9', ...this.credentials(method, url, token), ...headers };
    const answer =
      outcome === 'COMMON_404001'
        ? await this.absent(method, url, body, given)
        : await this.service.send(method, url, body, { headers: given });
    const code: unknown = answer.body?.error_code;
    this.compare(`${method} ${path} ${title}`.trim(), typeof code === 'string' ? code : `${answer.status}`, outcome);
    return answer;
  }

  /** openapi.json has the routes of everything that can be switched on, and none of them answers that it is missing. */
  private async absent(method: Method, url: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    const request = { method, url, headers, ...(body === undefined ? {} : { payload: body as object }) };
    const answer = await this.service.app.inject(request);
    const json = String(answer.headers['content-type']).startsWith('application/json');
    const received = { status: answer.statusCode, headers: answer.headers, raw: answer.rawPayload };
    return { ...received, body: json ? (JSON.parse(answer.payload) as unknown) : undefined };
  }

  private credentials(method: Method, url: string, token: string | undefined): Record<string, string> {
    if (!this.bound) return token === undefined ? {} : { authorization: `Bearer ${token}` };
    if (token !== undefined) return this.proofs.with(token, method, url);
    return /\/(login|otp-verify)$/.test(url) ? this.proofs.headers(method, url) : {};
  }

  private compare(what: string, answer: unknown, right: unknown): void {
    this.answers[what] = JSON.stringify(answer) ?? 'none';
    this.right[what] = JSON.stringify(right) ?? 'none';
  }
}

const pick = (value: Record<string, unknown> = {}, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, value[name]]));

const pairOf = ({ data }: { data?: Record<string, unknown> }) => ({
  access: String(data?.access_token),
  refresh: String(data?.refresh_token),
});
