import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { AppModule } from '../../app.module';
import { applyAppSetup, createAdapter } from '../../app.setup';
import { createLogger } from '../../platform/logging/logger';
import { settings, type Store, temporaryStore } from '../../../test/support/captcha/harness';
import { hang, json, SiteverifyStub } from '../../../test/support/captcha/siteverify-stub';
import { SiteverifyProvider } from '../provider/siteverify-provider';

describe('the endpoints of the captcha', () => {
  let store: Store;
  let app: NestFastifyApplication | undefined;
  let stub: SiteverifyStub;

  beforeAll(async () => {
    store = await temporaryStore();
    stub = new SiteverifyStub();
    await stub.listen();
  });
  afterAll(async () => {
    await stub.close();
    await store.close();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app?.close();
    app = undefined;
  });

  async function start(environment: Record<string, string> = {}): Promise<void> {
    const config = settings({ DATABASE_URL: store.url, MIGRATE_ON_START: 'false', ...environment });
    app = await NestFactory.create<NestFastifyApplication>(AppModule.with(config), createAdapter(), {
      logger: false,
      bodyParser: false,
      abortOnError: false,
    });
    await applyAppSetup(app, createLogger('silent'));
  }

  async function verify(payload: unknown) {
    const answer = await app!.inject({
      method: 'POST',
      url: '/verify-captcha',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(payload),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  }

  it('a solved challenge can be exchanged for a pass once', async () => {
    await start();
    const answer = await app!.inject({ method: 'GET', url: '/captcha/challenge' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const challenge = answer.json<Challenge>();
    expect(Object.keys(challenge).sort()).toEqual(['parameters', 'signature']);
    const solution = await solveChallenge({ challenge, deriveKey });
    const captcha_token = Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
    expect(await verify({ captcha_token })).toMatchObject({
      status: 200,
      body: { status: true, data: { result: true, captcha_token: expect.stringMatching(/^pass\./) } },
    });
    expect(await verify({ captcha_token })).toMatchObject({ status: 401, body: { error_code: 'CAPTCHA_401001' } });
  });

  it.each([
    ['no token', {}],
    ['no body', undefined],
    ['an empty token', { captcha_token: '' }],
    ['a number', { captcha_token: 1 }],
    ['an array', { captcha_token: ['dev-captcha-token'] }],
    ['an object', { captcha_token: { a: 1 } }],
    ['2049 characters', { captcha_token: 'x'.repeat(2049) }],
  ])('T031 T038 %s is answered with CAPTCHA_401001, not with a validation error', async (_case, payload) => {
    await start({ CAPTCHA_TEST_TOKEN: 'dev-captcha-token' });
    expect(await verify(payload)).toMatchObject({ status: 401, body: { error_code: 'CAPTCHA_401001' } });
  });

  it.each([
    ['a list', []],
    ['text', 'dev-captcha-token'],
    ['null', null],
  ])('a body that is %s is answered with a 4xx status, never with a 5xx status', async (_case, payload) => {
    await start({ CAPTCHA_TEST_TOKEN: 'dev-captcha-token' });
    const { status } = await verify(payload);
    expect([400, 401]).toContain(status);
  });

  const turnstile = (timeoutMs: number) => ({
    CAPTCHA_PROVIDER: 'turnstile',
    CAPTCHA_SECRET: 's',
    CAPTCHA_VERIFY_URL: stub.url,
    CAPTCHA_TIMEOUT_MS: `${timeoutMs}`,
  });

  it('T034 the provider gets the socket address of the client', async () => {
    await start(turnstile(30_000));
    stub.behaviour = json({ success: true });
    expect((await verify({ captcha_token: 'first' })).status).toBe(200);
    expect(stub.asked).toEqual([{ secret: 's', response: 'first', remoteip: '127.0.0.1' }]);
  });

  it('T040 when the provider hangs, the client gets CAPTCHA_503001 after CAPTCHA_TIMEOUT_MS', async () => {
    await start(turnstile(100));
    stub.behaviour = hang;
    const asked = jest.spyOn(SiteverifyProvider.prototype, 'judge');
    expect(await verify({ captcha_token: 'second' })).toMatchObject({
      status: 503,
      body: { error_code: 'CAPTCHA_503001', data: { retry_after: 2 } },
      headers: { 'retry-after': '2' },
    });
    expect(asked).toHaveBeenCalledWith('second', '127.0.0.1', 100);
  });

  it('/captcha/challenge gets 404 when altcha is not configured', async () => {
    await start({ CAPTCHA_PROVIDER: 'turnstile', CAPTCHA_SECRET: 's' });
    const answer = await app!.inject({ method: 'GET', url: '/captcha/challenge' });
    expect([answer.statusCode, answer.json<{ error_code: string }>().error_code]).toEqual([404, 'COMMON_404001']);
  });

  it('when the database is down, the client gets 503 and never a pass', async () => {
    // The path is below a file, so SQLite cannot open it.
    await start({ DATABASE_URL: `${store.url}/none.sqlite` });
    const challenge = (await app!.inject({ method: 'GET', url: '/captcha/challenge' })).json<Challenge>();
    const solution = await solveChallenge({ challenge, deriveKey });
    const captcha_token = Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
    expect(await verify({ captcha_token })).toMatchObject({ status: 503, body: { error_code: 'COMMON_503001' } });
  });
});
