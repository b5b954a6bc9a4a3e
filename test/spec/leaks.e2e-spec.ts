import { Tracing } from '../../src/platform/tracing/tracing';
import { TestService } from '../support/app';
import { json as verdict, SiteverifyStub } from '../support/captcha/siteverify-stub';
import { contract } from '../support/contract';
import { DirectoryStub } from '../support/directory-stub';
import { answer, WebhookReceiver } from '../support/events/webhook-receiver';
import { accountStory } from '../support/examples/account-story';
import { administrationStory } from '../support/examples/administration-story';
import { applicationsStory } from '../support/examples/applications-story';
import { Recorder } from '../support/examples/recorder';
import { passwordStory, portal, signInStory } from '../support/examples/sign-in-story';
import { ldapLogin } from '../support/ldap';
import { MfaClient } from '../support/mfa';
import { codeOf, goodPassword, look, submit } from '../support/reset';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { Smtp } from '../support/servers/smtp';

/** What a span of the SDK says. */
interface Span {
  readonly name: string;
  readonly attributes: unknown;
  readonly status: unknown;
  readonly events: unknown;
}

// Every operation, and a search for each of hundreds of secrets.
jest.setTimeout(600_000);

const mark = 'Marked-Secret-7-3141592653';

/**
 * Passwords, codes, tokens and links are in no log, metric, trace, audit row, event or refusal, at the lowest level of
 * the log (docs/spec/attacks.md#w47). `TestService` collects the secrets of all requests and answers, and `stop` looks
 * for each of them in many forms. Here every operation is used, and every place is looked at. The services around
 * repeat in their answers what they are told.
 */
describe('no secret reaches a log, a metric, a trace, an event or a refusal', () => {
  let smtp: Smtp;
  let recorded: Span[];
  let receiver: WebhookReceiver;
  let metricsPort: number;
  beforeEach(async () => {
    smtp = await Smtp.start();
    smtp.quote(451);
    receiver = await WebhookReceiver.start();
    metricsPort = await freePort();
  });
  afterEach(() => Promise.all([smtp.stop(), receiver.stop()]));

  async function start(more: Record<string, string>): Promise<TestService> {
    const settings = {
      LOG_LEVEL: 'trace',
      SMTP_URL: `${smtp.url}?tls=none`,
      SYSTEM_URL: portal,
      // Nothing listens on this port. The spans are read before they would be sent.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      METRICS_PORT: `${metricsPort}`,
      ...receiver.settings,
      ...more,
    };
    const service = await TestService.start(settings, { workers: true });
    service.secrets.most = Infinity;
    const { tracer } = service.app.get<unknown, { tracer: { startSpan(...given: unknown[]): Span } }>(Tracing);
    const startSpan = tracer.startSpan.bind(tracer);
    recorded = [];
    jest.spyOn(tracer, 'startSpan').mockImplementation((...given) => {
      const span = startSpan(...given);
      recorded.push(span);
      return span;
    });
    return service;
  }

  /** Stops the service, which looks at its log and its rows, and then looks at everything else that has left it. */
  async function expectNoLeak(service: TestService): Promise<void> {
    const { secrets } = service;
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const log = service.logLines.map((line) => JSON.stringify(line)).join('\n');
    await eventually(() => receiver.seen.length > 0, { what: 'events arrive' });
    const rows = secrets.rowsIn(service.store.url);
    if (__DATABASE__ === 'sqlite') expect(rows).toContain('"user_id"');
    await service.stop();
    const spans = JSON.stringify(
      recorded.map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
    );
    const events = receiver.seen.map(({ headers, body }) => JSON.stringify(headers) + body).join('\n');
    for (const [text, least] of [
      [metrics, 'auth_http_request_duration_seconds'],
      [log, '"msg":"request"'],
      [spans, 'INSERT'],
      [events, 'user_id'],
    ] as const) {
      expect(text).toContain(least);
    }
    secrets.assertAbsent({ metrics, spans, events });
    for (const code of secrets.codes) {
      // The value of a metric can be equal to a code by chance.
      for (const text of [log, metrics.replace(/ \S+$/gm, ''), spans, events, rows]) {
        expect(text).not.toMatch(new RegExp(`(?<![\\w.:-])${code}(?![\\w.:-])`));
      }
    }
  }

  it('every operation of the document, accepted and refused', async () => {
    const offers = { ADMIN_API: 'on', OIDC: 'on', EVENT_RECEIVERS: 'on', MFA_TRUSTED_DEVICE_DAYS: '30' };
    const service = await start({ MFA_REQUIRED: 'true', ...offers });
    const recorder = new Recorder(service);
    const signedIn = await signInStory(recorder);
    await passwordStory(recorder);
    await secondFactors(service);
    await resetByLink(service);
    await administrationStory(recorder, signedIn.alice, smtp);
    await applicationsStory(recorder, signedIn.access);
    await accountStory(recorder, signedIn);
    await strangeRequests(service);
    await brokenDatabase(service);
    const operations = Object.values(contract.paths).flatMap((path) => Object.keys(path as object));
    expect(recorder.exchanges.size).toBe(operations.length);
    expect(service.secrets.size).toBeGreaterThan(80);
    expect(service.secrets.codes.size).toBeGreaterThan(4);
    await expectNoLeak(service);
  });

  it('a directory, a captcha provider, a mail server and a receiver of events that repeat what they are told', async () => {
    const [directory, provider] = [await DirectoryStub.start(), new SiteverifyStub()];
    await provider.listen();
    provider.behaviour = (response) => {
      const { response: token, secret } = provider.asked.at(-1)!;
      verdict({ success: false, 'error-codes': [`wrong: ${token}`, `${secret}`] })(response, undefined as never);
    };
    receiver.behaviour = (event, response, request) => {
      answer(500, {}, JSON.stringify(event.headers) + event.body)(event, response, request);
    };
    const service = await start({
      ...directory.settings,
      LDAP_JIT_PROVISIONING: 'true',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SITE_KEY: 'public-key',
      CAPTCHA_SECRET: `${mark}-of-the-provider`,
      CAPTCHA_VERIFY_URL: provider.url,
      CAPTCHA_TIMEOUT_MS: '30000',
    });
    try {
      expect((await ldapLogin(service, 'somebody', mark)).status).toBe(200);
      for (const code of [49, 50, 53, 1]) {
        directory.userBind = { code, message: `data 52e: ${mark} is wrong`, referral: undefined };
        await ldapLogin(service, 'somebody', mark);
        service.clock.advanceSeconds(1000);
      }
      directory.userBind = { code: 0 };
      directory.serviceBind = { code: 49, message: `service-password and ${mark} are wrong` };
      expect((await ldapLogin(service, 'somebody', mark)).body.error_code).toBe('LOGIN_503001');
      const refused = await service.login('somebody', mark, { captcha_token: `${mark}-captcha` });
      expect(refused.body.error_code).toBe('CAPTCHA_401001');
      expect(provider.asked).toHaveLength(1);
      await service.givenUser('mailed');
      for (const email of ['mailed@example.com', 'nobody@example.com'])
        await service.post('/forget-password', { email });
      await eventually(() => service.logLines.some(({ msg }) => String(msg).startsWith('mail not sent')), {
        what: 'the mail server refuses the mail with the link',
      });
      await eventually(() => service.logLines.some(({ failure }) => failure !== undefined), {
        what: 'the receiver refuses an event',
      });
    } finally {
      await Promise.all([directory.stop(), provider.close()]);
    }
    await expectNoLeak(service);
  });
});

/** Codes, recovery codes and trusted devices, right and wrong. */
async function secondFactors(service: TestService): Promise<void> {
  const mfa = new MfaClient(service);
  const { user, secret, access } = await mfa.givenAuthenticator('rita');
  const { body } = await service.post('/recovery-codes', undefined, { bearer: access });
  const [first] = body.data.codes as string[];
  const open = async () => ({ mfa_token: (await mfa.logIn('rita')).mfaToken });
  const login = await open();
  expect((await mfa.verify(user.uid, 'recovery', 'WRONG-CODES', login)).status).toBe(401);
  expect((await mfa.verify(user.uid, 'totp', mfa.wrongCode(secret), login)).status).toBe(401);
  expect((await mfa.verify(user.uid, 'recovery', first, { ...login, trust_device: true })).status).toBe(200);
  expect((await mfa.verify(user.uid, 'recovery', first, await open())).status).toBe(401);
  service.clock.advanceSeconds(60);
  expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), await open())).status).toBe(200);
  await service.post('/totp-secret', { code: mfa.wrongCode(secret) }, { bearer: access });
}

/** The link of a mail, opened and used, once and again. */
async function resetByLink(service: TestService): Promise<void> {
  const dora = await service.givenUser('dora');
  await service.post('/forget-password', { email: 'dora@example.com' });
  const [mail] = await new MfaClient(service).mails(dora, 'reset-link');
  if (mail?.kind !== 'reset-link') throw new Error('no link was queued');
  const token = String(new URL(mail.link).searchParams.get('uid'));
  service.secrets.add('the link of a mail', [token, mail.link]);
  const outcomes = [
    codeOf(await look(service, token)),
    codeOf(await submit(service, token, 'short')),
    codeOf(await submit(service, token, goodPassword(3), goodPassword(4))),
    codeOf(await submit(service, token, goodPassword(3))),
    codeOf(await submit(service, token, goodPassword(4))),
    codeOf(await look(service, token)),
  ];
  expect(outcomes).toEqual(['success', 'AUTH_400007', 'AUTH_401010', 'success', 'AUTH_401007', 'AUTH_401007']);
}

/** Secrets in places where they do not belong, and bodies that cannot be read. */
async function strangeRequests(service: TestService): Promise<void> {
  service.secrets.add('a secret in a strange place', [
    `${mark}-path`,
    `${mark}-query`,
    `${mark}-body`,
    `${mark}-header`,
  ]);
  const json = { 'content-type': 'application/json' };
  for (const path of [`/${mark}-path`, `/user/change-pwd-req/${mark}-path`, `/otp-qrcode/${mark}-path`, '/user/me']) {
    await service.get(`${path}?access_token=${mark}-query`);
  }
  await service.send('POST', '/login', `{"username":"alice","password":"${mark}-body`, { headers: json });
  await service.send('POST', '/login', `{"password":"${mark}-body","${mark}-body":1}`, { headers: json });
  await service.send('POST', '/login', `password=${mark}-body`, { headers: { 'content-type': 'text/plain' } });
  await service.post('/login', { username: ['alice'], password: { text: `${mark}-body` }, captcha_token: 1 });
  await service.post('/refresh', undefined, { bearer: `${mark}-header` });
  for (const authorization of [`Basic ${btoa(`alice:${mark}-header`)}`, `Digest ${mark}-header`]) {
    const headers = { authorization, cookie: `session=${mark}-header`, referer: `https://x.test/?p=${mark}-header` };
    await service.get('/user/me', { headers });
    await service.send('POST', '/introspect', `token=${mark}-body`, {
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    });
  }
}

/** Drivers quote the statement with its values in their errors. */
async function brokenDatabase(service: TestService): Promise<void> {
  await service.givenUser('watched');
  const statuses = [];
  for (const table of ['users', 'login_logs', 'pending_logins', 'audit_logs']) {
    await service.database.affected(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    statuses.push((await service.login('watched')).status);
    await service.login('watched', `${mark}-password`);
    await service.post('/forget-password', { email: 'watched@example.com' });
    await service.post('/otp-verify', { uid: crypto.randomUUID(), type: 'email', code: '271828', mfa_token: mark });
    await service.database.affected(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    service.clock.advanceSeconds(61);
  }
  expect(Math.max(...statuses)).toBeGreaterThanOrEqual(500);
}
