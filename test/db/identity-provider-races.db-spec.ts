import { operatorAuthority } from '../../src/admin/authority';
import { EntryNotFound } from '../../src/admin/entries';
import { IdentityProviderAdministration } from '../../src/admin/identity-provider-administration';
import { ProviderInUse, ProviderProblem } from '../../src/admin/identity-provider-rules';
import { UserAdministration } from '../../src/admin/user-administration';
import { UserMove } from '../../src/admin/user-move';
import { ProviderVerification } from '../../src/admin/provider-verification';
import { AccountProblem } from '../../src/users/user-accounts';
import { password, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { givenIdentityProvider } from '../support/identity-providers';

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes around identity providers', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start({ ADMIN_API: 'on' }, { clock });
    const second =
      __DATABASE__ === 'sqlite' ? first : await TestService.start({ ADMIN_API: 'on' }, { clock, store: first.store });
    services = [first, second];
    for (const { app } of new Set(services)) {
      jest.spyOn(app.get(ProviderVerification, { strict: false }), 'assertUsable').mockResolvedValue();
    }
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const by = operatorAuthority;
  const on = <T>(n: number, type: abstract new (...args: never[]) => T): T =>
    services[n % 2]!.app.get<T>(type, { strict: false });
  const race = async <T>(racers: number, run: (n: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
    Promise.allSettled(Array.from({ length: racers }, (_, n) => run(n)));
  const won = <T>(results: PromiseSettledResult<T>[]): T[] =>
    results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const lost = (results: PromiseSettledResult<unknown>[]): unknown[] =>
    results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const newUser = (name: string, identityProviderId: string) => ({
    ...{
      loginName: name,
      email: `${name}@example.com`,
      nickname: null,
      passwordHash: null,
      temporary: false,
      status: 1,
    },
    ...{ mfaType: 'email' as const, provider: 'oidc' as const, identityProviderId, isAdmin: false },
    ...{ tenantId: 'root', orgUnitId: null },
  });
  const count = (table: string, where: string, values: string[]) => services[0].count(table, where, values);

  it('a deletion or another issuer beside new users: no user belongs to a provider that is gone or is another one', async () => {
    for (let round = 0; round < 12; round++) {
      const { id } = await givenIdentityProvider(services[0], { id: `race-${round}` });
      const results = await race(6, async (n): Promise<unknown> => {
        const [turn, admin] = [Math.floor(n / 2), on(n, IdentityProviderAdministration)];
        if (turn === 0) return admin.change(by, id, { issuer: `https://other-${n}.example.com` });
        if (turn === 1) return admin.remove(by, id);
        return on(n, UserAdministration).create(by, newUser(`new-${round}-${n}`, id));
      });
      const [changes, deletions, users] = [results.slice(0, 2), results.slice(2, 4), results.slice(4)];
      const left = await count('identity_providers', 'id = ?', [id]);
      expect(await count('users', 'identity_provider_id = ?', [id])).toBe(won(users).length);
      if (won(users).length > 0) expect([left, won(deletions)]).toEqual([1, []]);
      else expect([left, won(deletions).length]).toEqual([0, 1]);
      for (const error of [...lost(changes), ...lost(deletions)]) {
        expect(error instanceof ProviderInUse || error instanceof EntryNotFound).toBe(true);
      }
      expect(lost(users).every((error) => error instanceof AccountProblem)).toBe(true);
    }
  });

  it('of parallel saves with one domain one wins, and the others name it', async () => {
    for (let round = 0; round < 5; round++) {
      const domains = [`race-${round}.example.com`];
      const results = await race(4, (n) =>
        on(n, IdentityProviderAdministration).create(by, `domain-${round}-${n}`, {
          ...{ name: 'Race', issuer: 'https://idp.example.com', client_id: 'portal', domains },
        }),
      );
      expect(won(results)).toHaveLength(1);
      const winner = won(results)[0]!.provider.id;
      for (const error of lost(results)) {
        expect((error as ProviderProblem).fields).toEqual({
          'domains[0]': [`domains[0] belongs to the identity provider ${winner}`],
        });
      }
    }
  });

  it('of parallel creations with one id one wins', async () => {
    const results = await race(4, (n) =>
      on(n, IdentityProviderAdministration).create(by, 'one-id', {
        ...{ name: `Race ${n}`, issuer: 'https://idp.example.com', client_id: 'portal' },
      }),
    );
    expect(won(results)).toHaveLength(1);
    expect(lost(results).every((error) => error instanceof ProviderProblem)).toBe(true);
    expect(await count('audit_logs', "event = 'IDENTITY_PROVIDER_CREATED' AND detail LIKE ?", ['%one-id%'])).toBe(1);
  });

  it('a move beside logins and another move: afterwards no session lives, and no password is left', async () => {
    const { id } = await givenIdentityProvider(services[0], { id: 'target' });
    for (let round = 0; round < 6; round++) {
      const user = await services[0].givenUser(`mover-${round}`);
      const results = await race(5, async (n): Promise<unknown> => {
        const service = services[n % 2]!;
        if (n < 3) return service.login(user.loginName, password);
        return on(n, UserMove).move(by, user.uid, { provider: 'oidc', identityProviderId: id }, 'en');
      });
      expect(lost(results)).toEqual([]);
      const answers = won(results.slice(0, 3)) as { status: number; body: { data?: { access_token?: string } } }[];
      for (const { status, body } of answers) {
        const bearer = body.data?.access_token;
        if (status === 200) expect((await services[0].get('/user/me', { bearer })).status).toBe(401);
      }
      const [row] = await services[0].database.rows('SELECT password, provider FROM users WHERE uid = ?', [user.uid]);
      expect(row).toEqual({ password: null, provider: 'oidc' });
    }
  });
});
