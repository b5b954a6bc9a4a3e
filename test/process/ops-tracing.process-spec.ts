import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { runProgram } from '../support/run-program';
import { captchaToken, testSettings } from '../support/settings';
import { fleetPassword as password } from '../support/fleet';
import { ServiceProcess } from '../support/servers/service-process';

const caller = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const traceparent = `00-${caller.trace}-${caller.span}-01`;

interface Exported {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: { readonly key: string; readonly value: Record<string, unknown> }[];
}

describe('traces', () => {
  let collector: Server;
  let endpoint: string;
  let bodies: any[];
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    const env = { ...testSettings, DATABASE_URL: databaseUrl };
    const create = ['user', 'create', '--login-name', 'alice', '--password', password];
    expect(await runProgram('dist/src/cli.js', create, { env, cwd: process.cwd() })).toMatchObject({ code: 0 });
  });
  afterAll(() => MariaDbDatabases.shared().drop(databaseUrl));

  beforeEach(async () => {
    bodies = [];
    collector = createServer((request, response) => {
      void json(request).then((body) => {
        bodies.push({ path: request.url, body });
        response.end('{}');
      });
    });
    await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
    endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  });
  afterEach(() => collector.closeAllConnections());
  afterEach((done) => void collector.close(() => done()));

  const spans = (): Exported[] =>
    bodies.flatMap(({ body }) => body.resourceSpans.flatMap((one: any) => one.scopeSpans.flatMap((s: any) => s.spans)));

  async function start(env: Record<string, string>): Promise<ServiceProcess> {
    return ServiceProcess.start({ env: { ...testSettings, DATABASE_URL: databaseUrl, ...env } });
  }

  const login = (service: ServiceProcess, typed: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify({ username: 'alice', password: typed, captcha_token: captchaToken }),
    });

  it('a request is a child of its caller, its statements are children of the request, and the end sends them', async () => {
    const service = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'portal-login' });
    const answer: any = await (await login(service, password, { traceparent })).json();
    await login(service, 'wrong');
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    const logged = service.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ route }) => route === '/login')
      .map(({ traceId }) => traceId);

    expect(new Set(bodies.map(({ path }) => path as string))).toEqual(new Set(['/v1/traces']));
    expect(JSON.stringify(bodies[0].body.resourceSpans[0].resource)).toContain('"portal-login"');
    const [root, other] = spans().filter(({ name }) => name === 'POST /login');
    expect(root).toMatchObject({ traceId: caller.trace, parentSpanId: caller.span });
    expect(logged).toEqual([caller.trace, other!.traceId]);
    expect(other!.traceId).not.toBe(caller.trace);
    const ofTrace = spans().filter(({ traceId }) => traceId === caller.trace);
    const parents = new Set(ofTrace.map(({ spanId }) => spanId));
    for (const span of ofTrace) if (span !== root) expect(parents).toContain(span.parentSpanId);
    const names = ofTrace.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['transaction', 'SELECT users', 'INSERT login_tokens', 'UPDATE users']),
    );
    const attributes = Object.fromEntries(root!.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
    expect(attributes).toMatchObject({ 'http.route': '/login', 'http.response.status_code': 200 });
    // Readiness was asked for all the while.
    expect(spans().some(({ name }) => name.includes('health'))).toBe(false);

    const everything = JSON.stringify(bodies);
    const secrets = [password, 'wrong', 'alice', captchaToken, answer.data.access_token as string];
    for (const secret of secrets) expect(everything).not.toContain(secret);
  });

  it.each(['silent', 'away'])('a collector that is %s delays neither an answer nor the end', async (what) => {
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const { port } = silent.address() as AddressInfo;
    if (what === 'away') silent.close();
    const service = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    expect((await login(service, password)).status).toBe(200);
    const began = performance.now();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(9500);
    silent.closeAllConnections();
    silent.close();
  });
});
