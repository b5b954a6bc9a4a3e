import { createServer, type Server } from 'node:net';
import { rememberedMs } from '../../src/admin/requested-checks';
import { ReceiverHealth } from '../../src/events/receiver-health';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { givenEventReceiver } from '../support/events/given-receiver';
import { givenIdentityProvider } from '../support/identity-providers';
import { freePort } from '../support/servers/free-port';

/** docs/operations/administration.md#checks */
describe('the checks of the connections', () => {
  let service: TestService;
  let root: AdminClient;
  let mailServer: Server;
  let connections: number;
  let redisPort: number;

  beforeAll(async () => {
    // A mail server that hangs up: each run of the checks is one connection.
    mailServer = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined);
      socket.destroy();
    });
    const port = await new Promise<number>((done) =>
      mailServer.listen(0, '127.0.0.1', () => done((mailServer.address() as { port: number }).port)),
    );
    redisPort = await freePort();
    service = await TestService.start({
      ...adminSettings,
      SMTP_URL: `smtp://mailer:the-mail-password@localhost:${port}`,
      REDIS_URL: `redis://:the-redis-password@127.0.0.1:${redisPort}`,
      RATE_LIMIT: 'off',
      TOKEN_BINDING: 'off',
      EVENT_RECEIVERS: 'on',
    });
    root = await AdminClient.of(service, 'root-admin');
  });
  afterAll(async () => {
    await service.stop();
    await new Promise((done) => mailServer.close(done));
  });
  beforeEach(async () => {
    // No answer of an earlier test is remembered.
    service.clock.advanceSeconds(rememberedMs / 1000);
    root = await root.again('root-admin');
    connections = 0;
    await service.database.affected('DELETE FROM audit_logs');
  });

  const run = async () => (await root.send('POST', 'checks')).body.data;
  const findings = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await run()).items.map(({ check, status, text }: Record<string, string>) => [check, `${status}: ${text}`]),
    );
  const audits = () => service.count('audit_logs', "event = 'CONNECTIONS_CHECKED'");

  it('each connection has a line in the words of doctor, and the request an audit row with its actor', async () => {
    const found = await findings();
    expect(found).toMatchObject({
      writes: 'ok: insert, update and delete, rolled back',
      captcha: 'ok: altcha',
      legacy: 'skipped: LEGACY_VERIFY_URL is not set',
      idp: 'skipped: no identity provider is enabled',
      ldap: 'skipped: LDAP_URL is not set',
      receivers: 'skipped: there is no event receiver',
    });
    expect(found.smtp).toMatch(/^problem: the server \(/);
    expect(found.redis).toMatch(/^problem: .*ECONNREFUSED/);
    expect(await service.count('audit_logs', "event = 'CONNECTIONS_CHECKED' AND actor_id = ?", [root.uid])).toBe(1);
  });

  it('tells neither a secret nor an address that the settings page hides', async () => {
    const text = JSON.stringify(await run());
    expect(text).not.toMatch(/password|mailer|localhost|127\.0\.0\.1/);
    expect(text).not.toContain(String(redisPort));
  });

  it('changes nothing: its one write is rolled back', async () => {
    const tables = ['users', 'login_logs', 'mail_outbox', 'receiver_events'];
    const counted = () => Promise.all(tables.map((table) => service.count(table)));
    await run();
    const before = await counted();
    service.clock.advanceSeconds(rememberedMs / 1000);
    await run();
    const [users, logins, mails, events] = await counted();
    // The event of the audit row.
    expect([users, logins, mails, events]).toEqual([before[0], before[1], before[2], before[3]! + 1]);
  });

  it('requests at the same time share one run, whose answer is given again for 30 seconds', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, run));
    expect(connections).toBe(1);
    expect(new Set(answers.map(({ checked_at }) => checked_at)).size).toBe(1);
    service.clock.advanceSeconds(rememberedMs / 1000 - 1);
    expect((await run()).checked_at).toBe(answers[0].checked_at);
    expect(connections).toBe(1);
    service.clock.advanceSeconds(1);
    expect((await run()).checked_at).not.toBe(answers[0].checked_at);
    expect(connections).toBe(2);
    expect(await audits()).toBe(7);
  });

  it('names the identity provider that does not answer, and the receiver that has failed for 15 minutes', async () => {
    const issuer = `https://127.0.0.1:${await freePort()}`;
    await givenIdentityProvider(service, { id: 'acme', issuer });
    const since = service.clock.now();
    for (const id of ['lake', 'siem']) await givenEventReceiver(service, id);
    await service.database.affected(
      "UPDATE event_receivers SET failing_since = ?, last_error = 'status 503' WHERE id = 'siem'",
      [since],
    );
    service.clock.advanceSeconds(899);
    expect((await service.app.get(ReceiverHealth).figures()).failing).toEqual([]);
    service.clock.advanceSeconds(1);
    root = await root.again('root-admin');
    const found = await findings();
    expect(found.idp).toMatch(/^problem: acme issuer gives no usable answer/);
    // The log-in above is an event, and the worker may have tried meanwhile to send it to an address where nothing listens.
    expect(found.receivers).toMatch(
      /^warn: receivers: 2, paused: 0; siem has failed for 900 s \((status 503|ECONNREFUSED)\)$/,
    );
    expect((await root.get('overview')).body.data.event_receivers).toEqual({ total: 2, paused: 0, failing: ['siem'] });
    await service.database.affected("UPDATE event_receivers SET status = 1 WHERE id = 'siem'");
    expect(await service.app.get(ReceiverHealth).figures()).toEqual({ total: 2, paused: 1, failing: [] });
  });

  it('an administrator of one tenant is refused, and nothing is asked or written', async () => {
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'x', ?)", [
      service.clock.now(),
    ]);
    const acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    expect(outcomeOf(await acme.send('POST', 'checks'))).toBe('AUTH_403001');
    expect([connections, await audits()]).toEqual([0, 0]);
    expect((await acme.get('overview')).body.data.event_receivers).toBeNull();
  });
});
