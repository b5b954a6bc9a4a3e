import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AuditTrail } from '../../src/audit/audit-trail';
import { Metrics } from '../../src/metrics/metrics';
import * as catalogueModule from '../../src/shared/errors/error-catalogue';
import { TestService } from '../support/app';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';

const mariadb = __DATABASE__ === 'mariadb';
const monitoring = resolve(__dirname, '../../deploy/monitoring');

describe('Prometheus metrics on METRICS_PORT', () => {
  let service: TestService;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    service = await TestService.start({ METRICS_PORT: `${port}` });
    await service.givenUser('alice');
  });
  afterAll(() => service.stop());

  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sample = async (name: string): Promise<number | undefined> => {
    const line = (await scrape()).split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };

  it('T230 the metrics port serves only /metrics, and the service port does not serve it', async () => {
    const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
    const answer = await ask('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0.0.4/);
    for (const path of ['/', '/login', '/health/ready', '/metrics/', '/metricsx']) {
      expect((await ask(path)).status).toBe(404);
    }
    expect((await ask('/metrics', { method: 'POST', body: 'x' })).status).toBe(404);
    expect((await service.get('/metrics')).body.error_code).toBe('COMMON_404001');
  });

  it('counts requests by the pattern of their route, and failures by their error code', async () => {
    await service.login('alice');
    await service.login('alice', 'wrong');
    await service.get('/user/change-pwd-req/6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c');
    const text = await scrape();
    expect(text).toContain('auth_http_request_duration_seconds_count{method="POST",route="/login",status="200"} 1');
    expect(text).toContain('auth_error_answers_total{route="/login",error_code="LOGIN_401001"} 1');
    expect(text).not.toContain('6f1c8a52');
  });

  it('each route has a series of unknown errors that starts at 0, so that an alert sees the first one as an increase', async () => {
    const series = /^auth_error_answers_total\{route="([^"]+)",error_code="COMMON_500001"\} 0$/gm;
    const routes = [...(await scrape()).matchAll(series)].map(([, route]) => route!);
    expect(routes).toEqual(
      expect.arrayContaining(['/login', '/user/change-pwd-req/:uid', '/health/ready', 'unmatched']),
    );
  });

  it('nothing that a client chooses becomes a label: 100 unknown paths and agents add no series', async () => {
    const series = async () => (await scrape()).split('\n').filter((line) => line.includes('_seconds_count')).length;
    await service.get('/no-such-path');
    const before = await series();
    for (let n = 0; n < 100; n++) {
      await service.send(n % 2 === 0 ? 'GET' : 'DELETE', `/no-such-path-${n}`, undefined, {
        headers: { 'user-agent': `agent-${n}`, 'x-forwarded-for': `192.0.2.${n}` },
      });
    }
    expect(await series()).toBe(before);
  });

  it('contains no user name, address, token or e-mail address', async () => {
    await service.post('/forget-password', { email: 'alice@example.com' });
    const { access } = await service.session('alice');
    await service.get('/user/me', { bearer: access });
    const text = await scrape();
    for (const secret of ['alice', 'example.com', access, '127.0.0.1']) expect(text).not.toContain(secret);
  });

  it('shows the hash queue, the outbox, the pool, the event loop and the build', async () => {
    expect(await sample('auth_hash_jobs_total{outcome="completed"}')).toBeGreaterThan(0);
    expect(await sample('auth_hash_queue_waiting')).toBe(0);
    expect(await sample('auth_mail_outbox_pending')).toBeGreaterThanOrEqual(0);
    // Each scrape begins a new measurement, which is empty for the first 10 ms.
    const lag = async () => ((await sample('nodejs_eventloop_lag_p99_seconds')) ?? 0) > 0;
    await eventually(lag, { what: 'the delay of the event loop' });
    expect(await scrape()).toMatch(/auth_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.[\d.]+"\} 1/);
    const idle = await sample('auth_database_pool_connections{state="idle"}');
    if (mariadb) expect(idle).toBeGreaterThan(0);
    else expect(idle).toBeUndefined();
  });

  it('tells when a purge has last come to its end, and nothing before the first one', async () => {
    expect(await sample('auth_purge_last_success_timestamp_seconds')).toBeUndefined();
    const record = (event: 'PURGE_STARTED' | 'PURGE_FINISHED') =>
      service.app.get(AuditTrail).record(service.database, event, { detail: { logs_days: 400 } });
    await record('PURGE_FINISHED');
    const finished = service.clock.now().getTime() / 1000;
    service.clock.advanceSeconds(3600);
    await record('PURGE_STARTED');
    expect(await sample('auth_purge_last_success_timestamp_seconds')).toBe(finished);
  });

  it('the dashboard and the alerts use only metrics that exist, and no alert is defined twice', async () => {
    const text = await scrape();
    const known = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    );
    const dashboard = readFileSync(resolve(monitoring, 'grafana-dashboard.json'), 'utf8');
    const alerts = readFileSync(resolve(monitoring, 'alerts.yaml'), 'utf8');
    const named = (source: string) => new Set(source.match(/\b(auth|nodejs|process)_[a-z0-9_]+\b/g));
    for (const source of [dashboard, alerts]) {
      expect(named(source).size).toBeGreaterThan(8);
      expect([...named(source)].filter((name) => !known.has(name))).toEqual([]);
    }
    // Each metric of the service must have a panel in the dashboard.
    const own = [...known].filter((name) => name!.startsWith('auth_') && !name!.endsWith('_sum'));
    expect(own.filter((name) => !named(dashboard).has(name!))).toEqual([]);
    const names = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('the alerts use only error codes of the catalogue', () => {
    const catalogue = Object.values(catalogueModule)
      .map((entry) => (entry as { code?: string }).code)
      .filter((code) => code !== undefined);
    const alerts = readFileSync(resolve(monitoring, 'alerts.yaml'), 'utf8');
    const codes = alerts.match(/[A-Z]+_\d{6}/g) ?? [];
    expect(codes.length).toBeGreaterThan(3);
    for (const code of codes) expect(catalogue).toContain(code);
  });
});

describe('without METRICS_PORT', () => {
  it('nothing listens and no request is measured', async () => {
    const service = await TestService.start({ METRICS_PORT: '' });
    try {
      expect(service.logLines.filter(({ msg }) => msg === 'metrics are served')).toEqual([]);
      expect(service.app.get(Metrics)).toMatchObject({ registry: undefined, listener: undefined });
    } finally {
      await service.stop();
    }
  });
});
