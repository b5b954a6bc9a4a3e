import { DataSource } from 'typeorm';
import { CaptchaService } from '../../src/captcha/captcha.service';
import { dummyHash } from '../../src/hashing/bcrypt-format';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { TestService } from '../support/app';
import { countStatements } from '../support/count-statements';

describe('more logins than there is room for (T273, HASH_QUEUE_LIMIT)', () => {
  let service: TestService;
  let hasher: PasswordHasher;
  beforeAll(async () => {
    // The limit refuses here, never the expected wait, which grows with what else the machine does.
    service = await TestService.start({ HASH_QUEUE_LIMIT: '1', HASH_QUEUE_MAX_WAIT_MS: '600000' });
    hasher = service.app.get(PasswordHasher);
    await service.givenUser('crowded');
  });
  afterAll(() => service.stop());

  /** Takes every place there is, each for as long as a hash of cost 13 takes. */
  const fillTheQueue = () =>
    Array.from({ length: hasher.stats().concurrency + 1 }, (_, i) =>
      hasher.matches('x', dummyHash(13), { ip: `client ${i}` }),
    );

  it('are refused at once: COMMON_503001 with the time to come back, the captcha unspent, the store not asked', async () => {
    const captcha = jest.spyOn(service.app.get(CaptchaService), 'assertHuman');
    const statements = countStatements(service.app.get(DataSource));
    const before = fillTheQueue();
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
    await Promise.all(before);

    expect((await service.login('crowded')).status).toBe(200);
    expect(captcha).toHaveBeenCalledTimes(1);
    expect(await service.database.rows('SELECT outcome FROM login_logs')).toEqual([{ outcome: 'success' }]);
  });

  it('leave one short line in the log, without a stack', async () => {
    const before = fillTheQueue();
    const { headers } = await service.login('crowded');
    const told = service.logLines.filter(
      (line) => line.msg === 'COMMON_503001' && line.requestId === headers['x-request-id'],
    );
    await Promise.all(before);
    expect(told).toMatchObject([{ err: { type: 'HashQueueFull' } }]);
    expect(JSON.stringify(told[0])).not.toMatch(/stack|\.js:|\.ts:/);
  });

  it('of a directory wait for no hash and are not refused', async () => {
    const before = fillTheQueue();
    const answer = await service.login('crowded', 'any', { provider: 'ldap' });
    expect(answer.body.error_code).toBe('LOGIN_401001');
    await Promise.all(before);
  });
});
