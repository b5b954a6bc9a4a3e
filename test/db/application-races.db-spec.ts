import { createHash } from 'node:crypto';
import { ApplicationAdministration } from '../../src/admin/application-administration';
import { operatorAuthority } from '../../src/admin/authority';
import { EntryNotFound } from '../../src/admin/entries';
import { ApplicationProblem } from '../../src/applications/application-rules';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes of applications', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start({ ADMIN_API: 'on' }, { clock });
    const second =
      __DATABASE__ === 'sqlite' ? first : await TestService.start({ ADMIN_API: 'on' }, { clock, store: first.store });
    services = [first, second];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const by = operatorAuthority;
  const on = (n = 0) => services[n % 2]!.app.get(ApplicationAdministration);
  const race = async <T>(racers: number, run: (n: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
    Promise.allSettled(Array.from({ length: racers }, (_, n) => run(n)));
  const won = <T>(results: PromiseSettledResult<T>[]): T[] =>
    results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const lost = (results: PromiseSettledResult<unknown>[]): unknown[] =>
    results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const audited = (id: string, event: string) =>
    services[0].count('audit_logs', 'event = ? AND detail LIKE ?', [event, `%${id}%`]);
  const given = async () => {
    const { application, secret } = await on().create(by, 'web', { name: 'App', redirect_uris: ['https://a.example'] });
    return { id: application.id, secret: secret! };
  };
  const hashes = async (id: string) =>
    (
      await services[0].database.rows<{ secret_hash: string; old_secret_hash: string | null }>(
        'SELECT secret_hash, old_secret_hash FROM applications WHERE id = ?',
        [id],
      )
    )[0]!;
  const sha256 = (text: string | null) => createHash('sha256').update(text!).digest('hex');

  it('two changes of different fields both last, in 20 rounds', async () => {
    const { id } = await given();
    for (let round = 0; round < 20; round++) {
      const results = await race(2, (n) =>
        on(n).change(by, id, n === 0 ? { name: `Name ${round}` } : { uri: `https://a.example/${round}` }),
      );
      expect(lost(results)).toEqual([]);
      expect(await on().get(id)).toMatchObject({ name: `Name ${round}`, uri: `https://a.example/${round}` });
    }
    expect(await audited(id, 'APPLICATION_CHANGED')).toBe(40);
  });

  it('of 10 parallel rotations that keep the former secret one wins, and the secret that applications use still works (T493)', async () => {
    const { id, secret } = await given();
    const results = await race(10, (n) => on(n).rotateSecret(by, id, 3600));
    const winners = won(results);
    expect(winners).toHaveLength(1);
    expect(lost(results)).toEqual(Array.from({ length: 9 }, () => expect.any(ApplicationProblem)));
    expect(await hashes(id)).toEqual({
      secret_hash: sha256(winners[0]!.secret),
      old_secret_hash: sha256(secret),
    });
    expect(await audited(id, 'APPLICATION_SECRET_ROTATED')).toBe(1);
  });

  it('of 10 parallel rotations that keep nothing, the secret of exactly one caller works', async () => {
    const { id } = await given();
    const results = await race(10, (n) => on(n).rotateSecret(by, id, 0));
    const stored = await hashes(id);
    expect(stored.old_secret_hash).toBeNull();
    expect(won(results).filter(({ secret }) => sha256(secret) === stored.secret_hash)).toHaveLength(1);
    expect(lost(results).every((error) => error instanceof ApplicationProblem)).toBe(true);
    expect(await audited(id, 'APPLICATION_SECRET_ROTATED')).toBe(won(results).length);
  });

  it('a deletion beside changes, rotations and another deletion: one wins, and no row comes back', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await given();
      const results = await race(6, async (n): Promise<unknown> => {
        if (n < 2) return on(n).remove(by, id);
        return n < 4 ? on(n).change(by, id, { enabled: false }) : on(n).rotateSecret(by, id, 60);
      });
      expect(won(results.slice(0, 2))).toHaveLength(1);
      for (const error of lost(results)) {
        expect(error instanceof EntryNotFound || error instanceof ApplicationProblem).toBe(true);
      }
      expect(await services[0].count('applications', 'id = ?', [id])).toBe(0);
      expect(await audited(id, 'APPLICATION_DELETED')).toBe(1);
      const changes = won(results.slice(2)).length;
      expect((await audited(id, 'APPLICATION_CHANGED')) + (await audited(id, 'APPLICATION_SECRET_ROTATED'))).toBe(
        changes,
      );
    }
  });
});
