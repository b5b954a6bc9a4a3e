import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DemoModule } from '../../src/demo/demo.module';
import { TestService } from '../support/app';
import { rawRequest, request } from '../support/raw-http';
import { named, routes } from '../support/routes';

/**
 * An attacker can let evil.example resolve to 127.0.0.1. The browser then lets the pages of evil.example read the
 * answers of the demo. Only the Host header shows the attack.
 */
describe('DNS rebinding', () => {
  let demo: TestService;
  let port: number;
  beforeAll(async () => {
    demo = await TestService.start({}, { module: (config) => DemoModule.with(config) });
    await mkdir(join(demo.dataDir, 'outbox'), { recursive: true });
    await writeFile(join(demo.dataDir, 'outbox', '1.eml'), 'Subject: code\r\nTo: a@example.com\r\n\r\n123456\r\n');
    await demo.app.listen(0, '127.0.0.1');
    ({ port } = demo.app.getHttpServer().address() as AddressInfo);
  });
  afterAll(() => demo.stop());

  const ask = (method: string, path: string, host: string) =>
    rawRequest(port, request(method, path, [`Host: ${host}`, 'Content-Length: 0']));

  it.each(['127.0.0.1', 'localhost', '[::1]', 'LocalHost'])('the demo answers its own name %s', async (name) => {
    for (const host of [name, `${name}:${port}`]) {
      const answer = await ask('GET', '/demo/outbox', host);
      expect(answer?.status).toBe(200);
      expect(answer?.body).toContain('123456');
    }
  });

  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example@localhost',
    'localhost.',
    'localhost:',
    'localhost:port',
    '127.0.0.2',
    '0.0.0.0',
    '127.1',
    '[::ffff:127.0.0.1]',
    '::1',
    '',
  ])('the demo answers Host %j with 400 and shows no mail', async (host) => {
    const answer = await ask('GET', '/demo/outbox', host);
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      error_code: 'COMMON_400001',
      data: { fields: { Host: [expect.stringContaining('localhost')] } },
    });
    expect(answer?.body).not.toContain('123456');
    expect(answer?.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  it.each([
    ...named(routes),
    ['POST /', { method: 'POST', path: '/' }],
    ['GET /nowhere', { method: 'GET', path: '/nowhere' }],
  ] as const)('the demo refuses a foreign Host at %s', async (_name, { method, path }) => {
    expect(JSON.parse((await ask(method, path, 'evil.example'))?.body ?? '')).toMatchObject({
      error_code: 'COMMON_400001',
      data: { fields: { Host: expect.anything() } },
    });
  });

  it('the demo refuses a request of HTTP/1.0 without a Host', async () => {
    expect((await rawRequest(port, 'GET /demo/outbox HTTP/1.0\r\n\r\n'))?.status).toBe(400);
  });

  it('the service outside the demo answers every Host', async () => {
    const service = await TestService.start();
    const answer = await service.get('/health/live', { headers: { host: 'portal.example.com' } });
    expect(answer.status).toBe(200);
    await service.stop();
  });
});
