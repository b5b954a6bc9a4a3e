import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { windowRows } from '../../src/audit/log-search';
import { Database } from '../../src/platform/database/database';
import type { SqlValue } from '../../src/platform/database/sql';
import { AdminClient, adminSettings } from '../support/admin-client';
import { TestService } from '../support/app';
import { eventually } from '../support/servers/eventually';

/** Some 30 MB of lines, which is more than the buffers of a connection hold. */
const exported = 30_000;

describe('the export of a log', () => {
  let service: TestService;
  let root: AdminClient;
  let server: Server;

  beforeAll(async () => {
    service = await TestService.start(adminSettings);
    root = await AdminClient.of(service, 'root-admin');
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'x', ?)", [new Date()]);
    await service.database.affected('DELETE FROM login_logs');
    const [name, agent, at] = ['n'.repeat(255), 'a'.repeat(512), service.clock.now()];
    for (let done = 0; done < exported; done += 1000) {
      const rows = Array.from({ length: 1000 }, (_, n) => [name, agent, `r${done + n}`, at]);
      await service.database.affected(
        `INSERT INTO login_logs (login_name, user_agent, request_id, created_at, provider, ip, outcome)
         VALUES ${rows.map(() => "(?, ?, ?, ?, 'password', '192.0.2.1', 'success')").join(', ')}`,
        rows.flat(),
      );
    }
    await service.app.listen(0, '127.0.0.1');
    server = service.app.getHttpServer();
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  /** The number of reads of the log so far. `before` runs before each of them. */
  function countedReads(before: (read: number) => Promise<void> = () => Promise.resolve()): () => number {
    let reads = 0;
    const database = service.app.get(Database);
    const rows = database.rows.bind(database);
    jest.spyOn(database, 'rows').mockImplementation(async <Row>(statement: string, values?: readonly SqlValue[]) => {
      if (/^SELECT id, created_at AS createdAt, user_id/.test(statement)) await before(++reads);
      return rows<Row>(statement, values);
    });
    return () => reads;
  }

  const ask = (path: string, by = root): ClientRequest => {
    const { port } = server.address() as AddressInfo;
    const headers = { authorization: `Bearer ${by.bearer}`, accept: 'application/x-ndjson' };
    return get({ port, path, headers, agent: false });
  };
  const ndjsonOf = ({ bearer }: AdminClient) => ({ bearer, headers: { accept: 'application/x-ndjson' } });
  const open = async (path: string, by?: AdminClient): Promise<IncomingMessage> =>
    ((await once(ask(path, by), 'response')) as [IncomingMessage])[0];
  const connections = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  /** Many turns of the event loop and statements, in which an unbounded reading would go on. */
  const meanwhile = async () => {
    for (let n = 0; n < 30; n++) await service.get('/password-policy');
  };

  it('is read as fast as the client takes it: a slow client does not fill the memory (T322)', async () => {
    const reads = countedReads();
    const answer = await open('/admin/login-logs');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    answer.pause();
    await meanwhile();
    expect(reads()).toBeLessThan(exported / 1000);
    let text = '';
    const ids = new Set<string>();
    for await (const chunk of answer.setEncoding('utf8')) {
      const lines = (text + String(chunk)).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) ids.add((JSON.parse(line) as { request_id: string }).request_id);
    }
    expect([text, ids.size]).toEqual(['', exported]);
  });

  it.each([
    ['rows', '/admin/login-logs'],
    ['no row', '/admin/login-logs?ip=192.0.2.1&outcome=NONE'],
  ])('ends when the client goes away while it finds %s (T322)', async (what, path) => {
    expect(exported / windowRows).toBeGreaterThan(2);
    // The place of a reader is free when the last read is done, which no client sees. A reader of the next case would be refused.
    const reader = await AdminClient.of(service, `leaver-${what.replaceAll(' ', '-')}`);
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const reads = countedReads((read) => (read === 2 ? held : Promise.resolve()));
    const request = ask(path, reader);
    request.on('error', () => undefined).on('response', (answer) => answer.on('error', () => undefined).resume());
    await eventually(() => reads() === 2, { what: 'the second read of the log' });
    request.destroy();
    await eventually(async () => (await connections()) === 0, { what: 'the connection is closed' });
    go();
    await meanwhile();
    expect(reads()).toBe(2);
  });

  const changed = (body: object) => async (reader: AdminClient) =>
    expect((await root.send('PATCH', `users/${reader.uid}`, body)).status).toBe(200);

  it.each<[string, (reader: AdminClient) => Promise<unknown>]>([
    ['is demoted', changed({ is_admin: false })],
    ['is disabled', changed({ status: 0 })],
    ['is moved to another tenant', changed({ tenant_id: 'acme' })],
    ['signs out', (reader) => service.post('/logout', {}, { bearer: reader.bearer })],
  ])('is cut off when its reader %s (T313)', async (what, end) => {
    const reader = await AdminClient.of(service, `reader-who-${what.replaceAll(' ', '-')}`);
    const reads = countedReads();
    const answer = await open('/admin/login-logs', reader);
    answer.pause();
    await meanwhile();
    await end(reader);
    const before = reads();
    const taken = (async () => {
      for await (const chunk of answer) void chunk;
    })();
    await expect(taken).rejects.toMatchObject({ code: 'ECONNRESET' });
    // One check may have been under way.
    expect(reads()).toBeLessThanOrEqual(before + 1);
  });

  it('goes on when the access token of its reader expires', async () => {
    const reader = await AdminClient.of(service, 'slow-reader');
    const answer = await open('/admin/login-logs', reader);
    answer.pause();
    await meanwhile();
    service.clock.advanceSeconds(3600);
    let lines = 0;
    for await (const chunk of answer.setEncoding('utf8')) lines += String(chunk).split('\n').length - 1;
    expect(lines).toBeGreaterThanOrEqual(exported);
    expect((await reader.get('overview')).body.error_code).toBe('AUTH_401002');
    root = await root.again('root-admin');
  });

  it('four run at once in a replica, and one for each administrator: the next one is COMMON_429001', async () => {
    const readers: AdminClient[] = [];
    for (const n of [1, 2, 3, 4, 5]) readers.push(await AdminClient.of(service, `exporter-${n}`));
    const [first, , , fourth, fifth] = readers as [AdminClient, ...AdminClient[]];
    const open4: IncomingMessage[] = [];
    const path = '/admin/login-logs';
    open4.push((await open(path, first)).pause());
    const refused = await service.send('GET', path, undefined, ndjsonOf(first));
    expect([refused.status, refused.body.error_code, refused.body.data.retry_after]).toEqual([
      429,
      'COMMON_429001',
      10,
    ]);
    for (const one of readers.slice(1, 4)) open4.push((await open(path, one)).pause());
    expect((await service.send('GET', path, undefined, ndjsonOf(fifth!))).status).toBe(429);
    // A page is no export.
    expect((await first.get('login-logs')).status).toBe(200);
    for (const answer of open4) answer.on('error', () => undefined).destroy();
    // A small list, because its answer is complete before the next request.
    await eventually(async () => (await fourth!.export('tenants')).status === 200, { what: 'a place is free' });
    await eventually(async () => (await first.export('tenants')).status === 200, { what: 'the place of the first' });
  });

  it('needs a young session, and a page does not (AUTH_403002)', async () => {
    const reader = await AdminClient.of(service, 'reader-of-before');
    service.clock.advanceSeconds(301);
    for (const path of ['/admin/login-logs', '/admin/users', '/admin/tenants', `/admin/users/${reader.uid}/sessions`]) {
      const answer = await service.send('GET', path, undefined, ndjsonOf(reader));
      expect([path, answer.body.error_code]).toEqual([path, 'AUTH_403002']);
    }
    expect((await reader.get('users')).status).toBe(200);
    root = await root.again('root-admin');
  });

  it.each<[string, (uid: string) => string, string | null]>([
    ['users', () => 'users', null],
    ['sessions', (uid) => `users/${uid}/sessions`, 'uid'],
    ['logins', (uid) => `users/${uid}/logins`, 'uid'],
    ['config', () => 'config', null],
    ['mails', () => 'mails', null],
    ['tenants', () => 'tenants', null],
    ['org-units', () => 'org-units', null],
  ])('of %s leaves an audit row', async (list, pathOf, owner) => {
    expect((await root.export(pathOf(root.uid))).status).toBe(200);
    const [row] = await root.items('audit-logs?event=LIST_EXPORTED&limit=1');
    const user_id = owner === null ? null : root.uid;
    expect(row).toMatchObject({ actor_id: root.uid, user_id, detail: { list } });
  });

  it('of a user who does not exist leaves none', async () => {
    const before = await service.count('audit_logs');
    expect((await root.export(`users/${crypto.randomUUID()}/logins`)).status).toBe(404);
    expect(await service.count('audit_logs')).toBe(before);
  });

  it('a cursor that is wrong, and a database that is down, are answered before the stream begins', async () => {
    expect((await open('/admin/login-logs?after=x')).statusCode).toBe(400);
    countedReads(() => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' })));
    const answer = await open('/admin/login-logs');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([503, 'application/json; charset=utf-8']);
  });
});
