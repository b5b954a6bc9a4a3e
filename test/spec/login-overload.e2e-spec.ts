import { DataSource } from 'typeorm';
import { CaptchaService } from '../../src/captcha/captcha.service';
import { BcryptPasswordHasher } from '../../src/hashing/bcrypt-password-hasher';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { DomainError } from '../../src/shared/errors/domain-error';
import { captchaRejected } from '../../src/shared/errors/error-catalogue';
import { TestService } from '../support/app';
import { eventually } from '../support/servers/eventually';
import { countStatements } from '../support/count-statements';

describe('more logins than HASH_QUEUE_LIMIT allows (T273)', () => {
  let service: TestService;
  let hasher: BcryptPasswordHasher;
  beforeAll(async () => {
    // Only HASH_QUEUE_LIMIT may refuse a login here. The expected wait depends on the load of the machine.
    service = await TestService.start({ HASH_QUEUE_LIMIT: '1', HASH_QUEUE_MAX_WAIT_MS: '600000' });
    hasher = service.app.get<BcryptPasswordHasher>(PasswordHasher);
    await service.givenUser('crowded');
  });
  afterAll(() => service.stop());

  /** Takes every place of the queue. The returned function ends these jobs. */
  const fillTheQueue = () => {
    let end!: (same: boolean) => void;
    const ended = new Promise<boolean>((resolve) => (end = resolve));
    const engine = jest.spyOn(hasher['engine'], 'verify').mockReturnValue(ended);
    const jobs = Array.from({ length: hasher.stats().concurrency + 1 }, (_, i) =>
      hasher.matches('x', null, { ip: `client ${i}` }),
    );
    return async () => {
      end(false);
      await Promise.all(jobs);
      engine.mockRestore();
    };
  };

  it('are refused at once with COMMON_503001 and retry_after: the captcha is not spent, no statement is sent', async () => {
    const captcha = jest.spyOn(service.app.get(CaptchaService), 'assertHuman');
    const statements = countStatements(service.app.get(DataSource));
    const empty = fillTheQueue();
    let answer: Awaited<ReturnType<TestService['login']>> | undefined;
    expect(
      await statements(async () => {
        answer = await service.login('crowded');
      }),
    ).toBe(0);
    expect(hasher.stats().waiting).toBe(1);
    expect(answer?.status).toBe(503);
    expect(answer?.body).toMatchObject({ error_code: 'COMMON_503001' });
    const seconds = answer?.body.data.retry_after as number;
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(answer?.headers['retry-after']).toBe(String(seconds));
    expect(captcha).not.toHaveBeenCalled();
    await empty();

    expect((await service.login('crowded')).status).toBe(200);
    expect(captcha).toHaveBeenCalledTimes(1);
    expect(await service.database.rows('SELECT outcome FROM login_logs')).toEqual([{ outcome: 'success' }]);
  });

  it('leave one line in the log, with the code and the request id of the answer', async () => {
    const empty = fillTheQueue();
    const { headers } = await service.login('crowded');
    const logged = service.logLines.filter(({ requestId }) => requestId === headers['x-request-id']);
    await empty();
    expect(logged).toMatchObject([{ msg: 'request', status: 503, errorCode: 'COMMON_503001', route: '/login' }]);
  });

  it('are refused as well when they come in one moment: only those that find a place ask the captcha', async () => {
    let solve: () => void = () => undefined;
    const solved = new Promise<void>((resolve) => (solve = resolve));
    const captcha = jest.spyOn(service.app.get(CaptchaService), 'assertHuman').mockClear();
    captcha.mockImplementation(() => solved);
    let refused = 0;
    const answers = Array.from({ length: 40 }, async () => {
      const { status } = await service.login('crowded');
      if (status === 503) refused++;
      return status;
    });
    await eventually(() => refused + captcha.mock.calls.length === 40, {
      what: 'every login is refused or at the captcha',
    });
    const accepted = hasher.stats().concurrency + 1;
    expect(captcha).toHaveBeenCalledTimes(accepted);
    solve();
    expect((await Promise.all(answers)).filter((status) => status === 200)).toHaveLength(accepted);
    captcha.mockRestore();
  });

  it('have the headers of every answer, in the language of the client', async () => {
    const empty = fillTheQueue();
    const { headers, body } = await service.login(
      'crowded',
      undefined,
      {},
      { headers: { 'accept-language': 'zh-CN' } },
    );
    await empty();
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(body.msg).toMatch(/[\u4e00-\u9fff]/);
  });

  it('are not refused with provider ldap, because a directory login waits for no hash', async () => {
    const empty = fillTheQueue();
    const answer = await service.login('crowded', 'any', { provider: 'ldap' });
    expect(answer.body.error_code).toBe('LOGIN_401001');
    await empty();
  });
});

describe('100 logins of one moment (T273)', () => {
  const maxWaitMs = 2000;
  const threads = 2;
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ HASH_THREADS: String(threads), HASH_QUEUE_MAX_WAIT_MS: String(maxWaitMs) });
  });
  afterAll(() => service.stop());

  /** Sends 100 logins. The admitted ones wait at the captcha until all are decided, so no hash ends in between. */
  const sendTogether = async (expectedMs: number) => {
    const times = service.app.get<BcryptPasswordHasher>(PasswordHasher)['queue']['times'];
    const spies = [jest.spyOn(times, 'shareMs'), jest.spyOn(times, 'callMs')];
    for (const spy of spies) spy.mockReturnValue(expectedMs);
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const captcha = jest.spyOn(service.app.get(CaptchaService), 'assertHuman').mockImplementation(async () => {
      await left;
      throw new DomainError(captchaRejected);
    });
    const refused: Awaited<ReturnType<TestService['login']>>[] = [];
    const answers = Array.from({ length: 100 }, async () => {
      const answer = await service.login('nobody');
      if (answer.status === 503) refused.push(answer);
    });
    await eventually(() => refused.length + captcha.mock.calls.length === 100, {
      what: 'every login is refused or at the captcha',
    });
    const admitted = captcha.mock.calls.length;
    leave();
    await Promise.all(answers);
    for (const spy of [...spies, captcha]) spy.mockRestore();
    return { admitted, refused };
  };

  it('are all admitted while the last of them would wait less than HASH_QUEUE_MAX_WAIT_MS', async () => {
    expect(await sendTogether(39)).toMatchObject({ admitted: 100, refused: [] });
  });

  it('are refused beyond that time, with the expected wait as retry_after, however few places are taken', async () => {
    const { admitted, refused } = await sendTogether(160);
    // Two run. A further login waits for half a job and for the jobs before it on two threads, and takes one job itself.
    expect(admitted).toBe(threads + Math.floor((threads * maxWaitMs) / 160 - threads * 1.5) + 1);
    expect(refused).toHaveLength(100 - admitted);
    for (const { status, body, headers } of refused) {
      expect([status, headers['retry-after']]).toEqual([503, '3']);
      expect(body).toMatchObject({
        error_code: 'COMMON_503001',
        msg: expect.any(String) as string,
        data: { retry_after: 3 },
      });
    }
  });
});
