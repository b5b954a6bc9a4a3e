import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { json as answer, SiteverifyStub } from '../support/captcha/siteverify-stub';
import { DirectoryStub } from '../support/directory-stub';
import { post } from '../support/post';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { Redis } from '../support/servers/redis';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { captchaToken, password, testSettings } from '../support/settings';
import { attributesOf, lineOf, TraceCollector } from '../support/trace-collector';

const caller = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const traceparent = `00-${caller.trace}-${caller.span}-01`;

describe('traces and log records', () => {
  let collector: TraceCollector;
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    const env = { ...testSettings, DATABASE_URL: databaseUrl };
    const account = ['--login-name', 'alice', '--email', 'alice@example.com', '--password', password];
    const created = await runProgram('dist/src/cli.js', ['user', 'create', ...account], { env, cwd: process.cwd() });
    expect(created).toMatchObject({ code: 0 });
  });
  afterAll(() => MariaDbDatabases.shared().drop(databaseUrl));

  beforeEach(async () => {
    collector = await TraceCollector.start();
  });
  afterEach(() => collector.stop());

  async function start(env: Record<string, string>): Promise<ServiceProcess> {
    return ServiceProcess.start({ env: { ...testSettings, DATABASE_URL: databaseUrl, ...env } });
  }

  const login = (service: ServiceProcess, typed: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify({ username: 'alice', password: typed, captcha_token: captchaToken }),
    });

  it('a request span is a child of its caller, statement spans are children of the request, and the shutdown exports them with the log records', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=portal',
      OTEL_SERVICE_NAME: 'portal-login',
      OTEL_LOGS_EXPORTER: 'otlp',
      AUDIT_STREAM: 'stdout',
    };
    const roots = () => collector.spans.filter(({ name }) => name === 'POST /login');
    const run = async () => {
      collector.posts.splice(0);
      const service = await start(env);
      const { data }: any = await (await login(service, password, { traceparent })).json();
      await login(service, 'wrong');
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      return { service, data };
    };
    let { service, data } = await run();
    const isComplete = () => roots().length >= 2 && collector.logRecords.length >= service.lines.length;
    // The shutdown waits two seconds for the collector, and a pause of the machine may be longer.
    for (let further = 0; further < 2 && !isComplete(); further++) ({ service, data } = await run());
    const written = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const logged = written.filter(({ route }) => route === '/login').map(({ traceId }) => traceId);

    expect(new Set(collector.posts.map(({ path }) => path))).toEqual(new Set(['/v1/traces', '/v1/logs']));
    expect(new Set(collector.headers.map((headers) => headers['x-tenant']))).toEqual(new Set(['portal']));
    const [ofTraces, ofLogs] = ['/v1/traces', '/v1/logs'].map((at) => collector.posts.find(({ path }) => path === at)!);
    expect(JSON.stringify(ofTraces!.body.resourceSpans[0].resource)).toContain('"portal-login"');
    expect(ofLogs!.body.resourceLogs[0].resource).toEqual(ofTraces!.body.resourceSpans[0].resource);
    const [root, other] = roots();
    expect(root).toMatchObject({ traceId: caller.trace, parentSpanId: caller.span });
    expect(logged).toEqual([caller.trace, other!.traceId]);
    expect(other!.traceId).not.toBe(caller.trace);
    const ofTrace = collector.spans.filter(({ traceId }) => traceId === caller.trace);
    const parents = new Set(ofTrace.map(({ spanId }) => spanId));
    for (const span of ofTrace) if (span !== root) expect(parents).toContain(span.parentSpanId);
    const names = ofTrace.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['transaction', 'SELECT users', 'INSERT login_tokens', 'UPDATE users']),
    );
    expect(attributesOf(root!)).toMatchObject({ 'http.route': '/login', 'http.response.status_code': 200 });
    // Every line of standard output has its record: the start, the requests, the audit, the last line. No record tells more.
    const inOrder = (lines: object[]) => lines.map((line) => inspect(line, { sorted: true, depth: null })).sort();
    expect(inOrder(collector.logRecords.map(lineOf))).toEqual(inOrder(written));
    const kinds = written.map(({ log, msg }) => log ?? msg);
    expect(kinds).toEqual(expect.arrayContaining(['audit', 'request', 'listening', 'stopped']));
    const access = collector.logRecords.filter(({ body }) => body.stringValue === 'request');
    expect(access.map(({ traceId, spanId }) => ({ traceId, spanId }))).toEqual(
      expect.arrayContaining([root, other].map((span) => ({ traceId: span!.traceId, spanId: span!.spanId }))),
    );
    // The readiness probe was requested all the time, and it makes no span.
    expect(collector.spans.some(({ name }) => name.includes('health'))).toBe(false);

    const everything = JSON.stringify(collector.posts);
    const secrets = [password, 'wrong', captchaToken, data.access_token as string];
    for (const secret of secrets) expect(everything).not.toContain(secret);
    // The audit names the user, a span names nobody.
    expect(JSON.stringify(collector.spans)).not.toContain('alice');
  });

  it('a misspelt variable of OpenTelemetry is a warning of the log at the start, without its value', async () => {
    const service = await start({ OTEL_EXPORTER_OTLP_ENDPOIN: `${collector.endpoint}/canary` });
    await service.stop();
    const doubts = service.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /DID_YOU_MEAN/.test(msg));
    expect(doubts).toEqual([
      expect.objectContaining({
        level: 40,
        msg: 'OTEL_EXPORTER_OTLP_ENDPOIN has no effect, DID_YOU_MEAN OTEL_EXPORTER_OTLP_ENDPOINT',
      }),
    ]);
    expect(service.lines.join()).not.toContain('canary');
  });

  it('each external system has a span, and no span contains a user, an address or a secret', async () => {
    const captcha = new SiteverifyStub();
    await captcha.listen();
    captcha.behaviour = answer({ success: true });
    const directory = await DirectoryStub.start();
    const redis = await Redis.start();
    const smtp = await Smtp.start();
    try {
      const service = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        // The shutdown waits for the collector only for a limited time.
        OTEL_BSP_SCHEDULE_DELAY: '100',
        ...directory.settings,
        LDAP_JIT_PROVISIONING: 'true',
        CAPTCHA_PROVIDER: 'turnstile',
        CAPTCHA_SECRET: 'the-provider-secret',
        CAPTCHA_VERIFY_URL: captcha.url,
        RATE_LIMIT: 'on',
        REDIS_URL: redis.url,
        SMTP_URL: smtp.url,
      });
      const tried = (username: string, token: string, provider: string) =>
        post(service, '/login', { username, password, captcha_token: token, provider });
      // On a busy machine Redis may take longer than the service waits. The service then does not ask it for a while.
      const counted = async () => {
        await fetch(`${service.url}/password-policy`);
        return collector.spans.some(({ name }) => name === 'EVAL');
      };
      await eventually(counted, { what: 'the service counts in Redis', interval: 500 });
      // A login may meet a slow Redis, too. Its trace is complete when the span of its request has come.
      const ofRequests = () => collector.spans.filter(({ name }) => name === 'POST /login');
      const withRedis = (traceId: string) => {
        const evals = collector.spans.filter((span) => span.name === 'EVAL' && span.traceId === traceId);
        return evals.length > 0 && evals.every(({ status }) => status.code !== 2);
      };
      let logins = 0;
      const loggedIn = async () => {
        const { status } = await tried('alice', `token-of-alice-${++logins}`, 'password');
        if (status !== 200) throw new Error(`the login answered ${status}`);
        await eventually(() => ofRequests().length >= logins, { what: 'the span of the login' });
        return ofRequests().some(({ traceId }) => withRedis(traceId));
      };
      // The service does not ask a slow Redis for five seconds.
      await eventually(loggedIn, { what: 'a login that is counted in Redis', interval: 5500 });
      expect((await tried('somebody', 'token-of-somebody', 'ldap')).status).toBe(200);
      directory.serviceBind = { code: 49 };
      expect((await tried('somebody', 'another-token', 'ldap')).status).toBe(503);
      expect((await post(service, '/forget-password', { email: 'alice@example.com' })).status).toBe(200);
      const [mail] = await smtp.waitFor(1);
      const all = ['SMTP send', 'POST /forget-password'];
      await eventually(() => all.every((name) => collector.spans.some((span) => span.name === name)), {
        what: 'the last spans have come',
      });
      expect(await service.stop()).toEqual({ code: 0, signal: null });

      const ofPassword = collector.traceOf('bcrypt', ({ traceId }) => withRedis(traceId));
      expect(ofPassword.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['POST /login', 'EVAL', 'siteverify', 'hash queue', 'bcrypt', 'SELECT users']),
      );
      const one = (name: string) => ofPassword.find((span) => span.name === name)!;
      expect(attributesOf(one('EVAL'))).toEqual({
        'db.system': 'redis',
        'db.system.name': 'redis',
        'db.operation.name': 'EVAL',
      });
      expect(attributesOf(one('siteverify'))).toEqual({ 'captcha.provider': 'turnstile' });
      expect(attributesOf(one('SELECT users'))).toMatchObject({ 'db.system': 'mysql', 'db.system.name': 'mysql' });
      for (const name of ['hash queue', 'bcrypt']) expect(attributesOf(one(name))).toEqual({});

      const asked = collector.spans.filter(({ name }) => name.startsWith('LDAP '));
      expect(asked.map((span) => [span.name, span.status.code, attributesOf(span)])).toEqual([
        ['LDAP search', 0, {}],
        ['LDAP login', 0, {}],
        ['LDAP search', 2, { 'error.type': 'DirectoryFailure' }],
      ]);
      const roots = collector.spans.filter(({ name }) => name === 'POST /login').map(({ spanId }) => spanId);
      for (const { parentSpanId } of asked) expect(roots).toContain(parentSpanId);

      const sent = collector.traceOf('SMTP send');
      expect(sent).toHaveLength(1);
      expect(sent[0]!.parentSpanId ?? '').toBe('');
      expect(attributesOf(sent[0]!)).toEqual({ 'mail.kind': 'reset-link' });

      const everything = JSON.stringify(collector.posts);
      const link = /token=([\w-]+)/.exec(mail!.mail.text ?? '')?.[1];
      const words = [
        'alice',
        'somebody',
        password,
        'token-of',
        'another-token',
        'the-provider-secret',
        'example',
        link,
      ];
      for (const word of words) expect(everything).not.toContain(word ?? 'a link was not found');
      const ports = [captcha.port, directory.port, smtp.port].map((port) => `:${port}`);
      for (const address of ['127.0.0.1', ...ports]) expect(everything).not.toContain(address);
    } finally {
      await Promise.all([captcha.close(), directory.stop(), redis.stop(), smtp.stop()]);
    }
  });

  it.each(['silent', 'away'])(
    'a collector that is %s delays neither an answer nor the shutdown, and the log records that it does not take are counted',
    async (what) => {
      const silent = createServer(() => undefined);
      await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
      const { port } = silent.address() as AddressInfo;
      if (what === 'away') silent.close();
      const metricsPort = await freePort();
      const service = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '100',
        METRICS_PORT: `${metricsPort}`,
      });
      expect((await login(service, password)).status).toBe(200);
      const dropped = async () => {
        const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        return Number(/^auth_log_records_dropped_total (\d+)$/m.exec(scraped)?.[1]);
      };
      await eventually(async () => (await dropped()) > 0, { what: 'the dropped log records are counted' });
      await service.line(/the collector takes no log records/);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      // The program forces its exit after 9.5 s. `cleanly` shows that the collector did not cause such a forced exit.
      expect(service.lines.filter((line) => line.includes('"cleanly":true'))).toHaveLength(1);
      silent.closeAllConnections();
      silent.close();
    },
  );
});
