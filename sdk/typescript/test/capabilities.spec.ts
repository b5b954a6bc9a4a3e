import { type Asked, failure, no, ok, World } from './world';

const offered = { providers: ['password'], password_reset: true, brand: { name: 'Example Corp' } };

describe('capabilities', () => {
  it('are requested once in the life of a page, also by two callers at the same time', async () => {
    const world = new World().on('/capabilities', ok(offered));
    const tab = world.tab();
    const [one, other] = await Promise.all([tab.capabilities(), tab.capabilities()]);
    expect(one).toEqual(offered);
    expect(other).toBe(one);
    expect(await tab.capabilities()).toBe(one);
    expect(world.count('/capabilities')).toBe(1);
  });

  it('of a tenant are other ones, and are requested once as well', async () => {
    const acme = { ...offered, brand: { name: 'Acme' } };
    const answer = ({ query }: Asked) => ok(query.includes('tenant=acme') ? acme : offered);
    const world = new World().on('/capabilities', answer, answer);
    const tab = world.tab();
    expect(await tab.capabilities({ tenant: 'acme' })).toEqual(acme);
    expect(await tab.capabilities()).toEqual(offered);
    expect(await tab.capabilities({ tenant: 'acme' })).toEqual(acme);
    expect(world.count('/capabilities')).toBe(2);
  });

  it('are requested again after a failure', async () => {
    const world = new World().on('/capabilities', no('COMMON_503001', 1), ok(offered));
    const tab = world.tab();
    expect(await failure(tab.capabilities())).toMatchObject({ code: 'COMMON_503001' });
    expect(await tab.capabilities()).toEqual(offered);
    expect(world.count('/capabilities')).toBe(2);
  });

  it('time out after 10 s when the service does not answer, and are then requested again', async () => {
    const world = new World().on('/capabilities', () => new Promise<never>(() => undefined), ok(offered));
    const hanging: typeof world.fetch = (input) =>
      Promise.race([
        world.fetch(input),
        new Promise<never>((_resolve, reject) => {
          const { signal } = input as Request;
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      ]);
    const tab = world.tab(undefined, { fetch: hanging as typeof fetch });
    const asked = failure(tab.capabilities());
    await world.clock.pass(10);
    expect(await asked).toMatchObject({ name: 'ConnectionError' });
    expect(await tab.capabilities()).toEqual(offered);
  });
});
