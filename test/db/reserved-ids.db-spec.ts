import { randomUUID } from 'node:crypto';
import { AdminChanges } from '../../src/admin/admin-changes';
import { ApplicationAdministration } from '../../src/admin/application-administration';
import { operatorAuthority as by } from '../../src/admin/authority';
import { PasswordAges } from '../../src/admin/password-ages';
import { UserAdministration } from '../../src/admin/user-administration';
import { ApplicationProblem } from '../../src/applications/application-rules';
import type { AdoptionPlan } from '../../src/cli/adoption/adoption-plan';
import type { SourceTable } from '../../src/cli/adoption/source-table';
import { type AdoptionReport, UserAdoption } from '../../src/cli/adoption/user-adoption';
import { ServiceClientProblem, ServiceClients } from '../../src/introspection/service-client.repository';
import { Clock } from '../../src/shared/clock';
import { Random } from '../../src/shared/random';
import { AdoptedUsers } from '../../src/users/adopted-users';
import { PasswordSettings } from '../../src/users/password-settings';
import { SubjectIds } from '../../src/users/subject-ids';
import { AccountProblem } from '../../src/users/user-accounts';
import { Database } from '../../src/platform/database/database';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { openIdSettings } from '../support/openid';

const settings = { ADMIN_API: 'on', ...openIdSettings };

/** Parallel callers use two replicas, each with its own connections. SQLite deployments have one replica. */
describe('the id of a client is no uid, and no uid is the id of a client (T755)', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start(settings, { clock });
    const shared = { clock, store: first.store };
    services = [first, __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, shared)];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });
  afterEach(() => jest.restoreAllMocks());

  let made = 0;
  const user = (uid: string) => ({
    ...{ uid, loginName: `reserved-${++made}`, email: null, nickname: null, passwordHash: null, temporary: false },
    ...{ status: 1, mfaType: 'email', provider: 'password', isAdmin: false, tenantId: 'root', orgUnitId: null },
  });
  const imported = (uid: string, at = 0) =>
    services[at]!.app.get(UserAdministration).create(by, user(uid) as never, 'USER_IMPORTED');
  const application = (id: string, at = 1) =>
    services[at]!.app.get(ApplicationAdministration).create(
      by,
      'web',
      { name: 'App', redirect_uris: ['https://a.example'] },
      { id },
    );
  /** With an id that nobody can choose, but a test. */
  const client = (id: string, at = 1) => {
    const { app } = services[at]!;
    jest.spyOn(app.get(Random), 'uuid').mockReturnValueOnce(id);
    return app.get(ServiceClients).createScim('SCIM', {});
  };
  /** `migrate --adopt` of one row. */
  const adopted = async (uid: string, at = 0): Promise<AdoptionReport> => {
    const { app } = services[at]!;
    const report = { rows: 0, created: 0, skipped: 0, failed: 0 };
    const clock = app.get(Clock);
    const parts = [app.get(Database), app.get(AdminChanges), app.get(AdoptedUsers), app.get(SubjectIds)] as const;
    const adoption = new UserAdoption(
      ...parts,
      ...([clock, app.get(Random), new PasswordAges(app.get(PasswordSettings), clock)] as const),
    );
    const source = {
      rows: async function* () {
        yield await Promise.resolve({ uid, login_name: `reserved-${++made}` });
      },
    } as unknown as SourceTable;
    const plan: AdoptionPlan = { source: ['old'], columns: new Map([['uid', 'id']]) };
    await adoption.run(source, plan, report, {
      ...{ dryRun: false, ages: { unknown: 0, expired: 0 }, progress: () => undefined },
      ...{ refused: () => Promise.resolve(), signal: new AbortController().signal },
    });
    return report;
  };
  const owners = async (id: string) => {
    const counts = [
      services[0].count('users', 'uid = ?', [id]),
      services[0].count('applications', 'id = ?', [id]),
      services[0].count('service_clients', 'id = ?', [id]),
    ];
    return (await Promise.all(counts)).reduce((sum, one) => sum + one);
  };

  it('a user with the id of an application or a client of SCIM is refused, also in a rehearsal and an adoption', async () => {
    for (const make of [application, client]) {
      const id = randomUUID();
      await make(id);
      await expect(imported(id)).rejects.toThrow(/^the uid is the id of (an application|a service client)$/);
      const rehearsal = services[0].app.get(UserAdministration).rehearse(by, user(id) as never);
      await expect(rehearsal).rejects.toBeInstanceOf(AccountProblem);
      expect(await adopted(id)).toEqual({ rows: 1, created: 0, skipped: 0, failed: 1 });
      expect(await owners(id)).toBe(1);
    }
  });

  it('an application or a client with the uid of a user is refused, also of a deleted one', async () => {
    const id = randomUUID();
    await imported(id);
    await services[0].database.affected('UPDATE users SET deleted_at = ? WHERE uid = ?', [services[0].clock.now(), id]);
    await expect(application(id)).rejects.toThrow('id is the id of a user');
    await expect(client(id)).rejects.toThrow('the new id is that of a user: try again');
    expect(await owners(id)).toBe(1);
  });

  it('of a user and an application with one id at once, one is made, in 20 rounds', async () => {
    for (let round = 0; round < 20; round++) {
      const id = randomUUID();
      const results = await Promise.allSettled([imported(id), application(id)]);
      const lost = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      expect(lost).toHaveLength(1);
      expect(lost[0]).toBeInstanceOf(results[0].status === 'rejected' ? AccountProblem : ApplicationProblem);
      expect(await owners(id)).toBe(1);
    }
  });

  it('of an adopted user and a client of SCIM with one id at once, one is made, in 20 rounds', async () => {
    for (let round = 0; round < 20; round++) {
      const id = randomUUID();
      const [adoption, other] = await Promise.allSettled([adopted(id), client(id)]);
      if (other.status === 'rejected') expect(other.reason).toBeInstanceOf(ServiceClientProblem);
      const created = other.status === 'rejected' ? 1 : 0;
      expect(adoption).toMatchObject({ status: 'fulfilled', value: { created, failed: 1 - created } });
      expect(await owners(id)).toBe(1);
    }
  });
});
