import { StoredUsedProofs } from '../../src/sessions/proof/stored-used-proofs';
import { Database } from '../../src/platform/database/database';
import { SystemRandom } from '../../src/shared/random';
import { type Answer, tally, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { ProofMaker } from '../support/proof';
import { Redis } from '../support/servers/redis';

const rounds = 100;
const once = { success: 1, AUTH_401011: 1 };

/** Two replicas with connections of their own. A database in a file has one process, which remembers by itself. */
async function replicas(settings: Record<string, string> = {}): Promise<[TestService, TestService]> {
  const clock = new FakeClock();
  const one = await TestService.start(settings, { clock });
  const alone = __DATABASE__ === 'sqlite' && settings.REDIS_URL === undefined;
  return [one, alone ? one : await TestService.start(settings, { clock, store: one.store })];
}

async function stop([one, two]: [TestService, TestService]): Promise<void> {
  if (two !== one) await two.stop({ keepStore: true });
  await one.stop();
}

async function raced(services: [TestService, TestService], dpopOf: (key: ProofMaker, token: string) => string) {
  const [one] = services;
  const key = ProofMaker.make(one.clock);
  await one.givenUser('ann');
  const { body } = await one.login('ann', undefined, {}, { headers: key.headers('POST', '/login') });
  const token = body.data.access_token as string;
  const outcomes: Record<string, number>[] = [];
  for (let n = 0; n < rounds; n++) {
    const headers = { authorization: `DPoP ${token}`, dpop: dpopOf(key, token) };
    const ask = (service: TestService): Promise<Answer> => service.get('/user/me', { headers });
    outcomes.push(tally(await Promise.all(services.map(ask))));
  }
  return outcomes;
}

const proof = (key: ProofMaker, token: string) => key.proof('GET', '/user/me', token);

describe('T436 one proof at two replicas at once: exactly one wins, in each of 100 rounds', () => {
  it('by the database, or by the process of a database in a file', async () => {
    const services = await replicas();
    expect(await raced(services, proof)).toEqual(Array.from({ length: rounds }, () => once));
    if (__DATABASE__ !== 'sqlite') {
      // One row for each proof that was used: those of the rounds and of the login.
      expect(await services[0].count('used_proofs')).toBe(rounds + 1);
    }
    await stop(services);
  });

  it('by Redis, without a row; and no request with a proof is answered while Redis is away', async () => {
    const redis = await Redis.start();
    const services = await replicas({ REDIS_URL: redis.url });
    expect(await raced(services, proof)).toEqual(Array.from({ length: rounds }, () => once));
    expect(await services[0].count('used_proofs')).toBe(0);
    const { access } = await services[0].session('ann');
    await redis.stop();
    const headers = ProofMaker.make(services[0].clock).headers('POST', '/login');
    for (const service of services) {
      expect(await service.login('ann', undefined, {}, { headers })).toMatchObject({
        status: 503,
        body: { error_code: 'COMMON_503001' },
      });
      expect((await service.get('/user/me', { bearer: access })).status).toBe(200);
    }
    await stop(services);
  });
});

const onMysql = __DATABASE__ === 'sqlite' ? describe.skip : describe;

onMysql('the table of used proofs', () => {
  let service: TestService;
  let memories: StoredUsedProofs[];
  beforeAll(async () => {
    service = await TestService.start();
    const make = () => new StoredUsedProofs(service.app.get(Database), new SystemRandom(), service.clock);
    memories = [make(), make()];
  });
  afterAll(() => service.stop());

  const use = (n: number, id: string) =>
    memories[n % 2]!.use({ id: id.padStart(32, '0'), forgottenAfter: service.clock.secondsFromNow(180) });

  it('groups of proofs that overlap in both orders: each proof has one winner, and nobody waits for ever', async () => {
    for (let round = 0; round < 10; round++) {
      const ids = Array.from({ length: 20 }, (_, n) => `${round}-${n}`);
      const outcomes = await Promise.all([
        ...ids.map((id) => use(0, id)),
        ...[...ids].reverse().map((id) => use(1, id)),
        ...ids.map((id) => use(0, id)),
      ]);
      expect(outcomes.filter((won) => won)).toHaveLength(20);
    }
  });

  it('a replica removes what has expired, and nothing else', async () => {
    await use(0, 'old');
    service.clock.advanceSeconds(181);
    await use(0, 'new');
    while ((await service.count('used_proofs')) > 1) await new Promise((resolve) => setImmediate(resolve));
    expect(await use(1, 'new')).toBe(false);
  });

  it('a table that is away is 503, and the proof counts for nothing', async () => {
    await service.database.affected('RENAME TABLE used_proofs TO away');
    await expect(use(0, 'x')).rejects.toMatchObject({ entry: { code: 'COMMON_503001' } });
    await service.database.affected('RENAME TABLE away TO used_proofs');
    expect(await use(0, 'x')).toBe(true);
  });
});
