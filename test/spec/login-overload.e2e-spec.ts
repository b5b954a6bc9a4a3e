import { DataSource } from 'typeorm';
import { CaptchaService } from '../../src/captcha/captcha.service';
import { BcryptPasswordHasher } from '../../src/hashing/bcrypt-password-hasher';
import { PasswordHasher } from '../../src/hashing/password-hasher';
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
