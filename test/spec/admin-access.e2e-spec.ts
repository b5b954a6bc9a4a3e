import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { eventStatus } from '../../src/events/outbox/outbox-event.entity';
import { mailStatus } from '../../src/mail/mail-status';
import {
  accessTable,
  adminRoutes,
  givenCaller,
  givenDeviceRow,
  givenPasskeyRow,
  startAdministration,
  tokenOf,
} from '../support/admin';
import { adminRequests, targetEvent, targetMail, targetUnit } from '../support/admin-requests';
import { TestService } from '../support/app';
import { givenEventReceiver } from '../support/events/given-receiver';
import { CompanyProvider } from '../support/identity-provider';
import { givenIdentityProvider } from '../support/identity-providers';
import { givenGroup } from '../support/groups';
import { givenApplication, openIdSettings } from '../support/openid';

const administrators = ['anonymous', 'user', 'no factor', 'other tenant', 'own tenant', 'root', 'old session'] as const;
const holders = ['help desk', 'auditor', 'root help desk', 'root auditor'] as const;
const callers = [...administrators, ...holders];
/** They have the role in the tenant of "other tenant". The table has no column for them: see `elsewhere`. */
const distant = ['distant help desk', 'distant auditor'] as const;
type CallerName = (typeof callers)[number] | (typeof distant)[number];

/** A role answers for a foreign tenant as an administrator of that tenant does, where it is admitted at all. */
const elsewhere = (row: Record<string, string>) =>
  Object.fromEntries(
    distant.map((name) => {
      const rooted = row[name.replace('distant', 'root')];
      return [name, rooted === 'AUTH_403001' ? rooted : row['other tenant']];
    }),
  );

describe('who may use the administration', () => {
  const table = accessTable();
  const bearers: Partial<Record<CallerName, string>> = {};
  let service: TestService;
  let company: CompanyProvider;
  beforeAll(async () => {
    company = await CompanyProvider.start([]);
    service = await startAdministration({ ...openIdSettings, MFA_TRUSTED_DEVICE_DAYS: '30', EVENT_RECEIVERS: 'on' });
    const now = service.clock.now();
    await service.database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES (?, 'acme', 'x')", [
      targetUnit,
    ]);
    await service.database.affected(
      `INSERT INTO event_outbox (event_id, type, stream, payload, status, fresh, created_at)
       VALUES (?, 'user.unlocked', 'alice', '{}', ?, 0, ?)`,
      [targetEvent, eventStatus.dead, now],
    );
    const admin = { isAdmin: true };
    bearers['old session'] = (await givenCaller(service, admin)).bearer;
    service.clock.advanceSeconds(301);
    bearers.user = (await givenCaller(service, { tenantId: 'acme' })).bearer;
    bearers['no factor'] = (await givenCaller(service, admin, null)).bearer;
    bearers['other tenant'] = (await givenCaller(service, { ...admin, tenantId: 'other' })).bearer;
    bearers['own tenant'] = (await givenCaller(service, { ...admin, tenantId: 'acme' })).bearer;
    bearers.root = (await givenCaller(service, admin)).bearer;
    for (const [name, role] of [
      ['help desk', 'help_desk'],
      ['auditor', 'auditor'],
    ] as const) {
      bearers[name] = (await givenCaller(service, { role, tenantId: 'acme' })).bearer;
      bearers[`root ${name}`] = (await givenCaller(service, { role })).bearer;
      bearers[`distant ${name}`] = (await givenCaller(service, { role, tenantId: 'other' })).bearer;
    }
  });
  afterAll(async () => {
    await company.stop();
    await service.stop();
  });

  /** A mail that was given up. Whoever may send it once more takes it from the next caller. */
  const giveUpMail = async () => {
    const [now, later] = [service.clock.now(), service.clock.secondsFromNow(86_400)];
    await service.database.affected('DELETE FROM mail_outbox WHERE id = ?', [targetMail]);
    await service.database.affected(
      `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at)
       VALUES (?, 'otp', 'x', ?, 1, ?, ?, ?)`,
      [targetMail, mailStatus.dead, now, later, now],
    );
  };

  it('is written in the table for every route and every caller, and every route has a request (T312)', () => {
    expect(Object.keys(table).sort()).toEqual(adminRoutes().sort());
    expect(Object.keys(adminRequests).sort()).toEqual(adminRoutes().sort());
    for (const row of Object.values(table)) expect(Object.keys(row)).toEqual([...callers]);
  });

  it.each(adminRoutes())('%s answers each caller as the table says (T312)', async (route) => {
    const answers: Record<string, string> = {};
    for (const caller of [...callers, ...distant]) {
      const user = await service.givenUser(`target-${caller.replace(' ', '-')}-${route.replace(/\W+/g, '-')}`, {
        ...{ password: null, tenantId: 'acme', email: `${randomUUID()}@example.com` },
      });
      const { uid } = user;
      await giveUpMail();
      const passkey = await givenPasskeyRow(service, uid);
      const device = await givenDeviceRow(service, uid);
      const { sid: session } = decodeJwt(await tokenOf(service, user)) as { sid: string };
      const { id: application } = await givenApplication(service);
      const { id: provider } = await givenIdentityProvider(service, { id: randomUUID(), issuer: company.issuer });
      const group = await givenGroup(service, `${caller} ${route}`, { tenantId: 'acme' });
      await service.database.affected('DELETE FROM event_receivers');
      const receiver = await givenEventReceiver(service, randomUUID());
      const targets = { uid, passkey, session, device, application, provider, issuer: company.issuer, group, receiver };
      const { path, body, headers } = adminRequests[route]!(targets);
      const method = route.slice(0, route.indexOf(' ')) as 'GET';
      const answer = await service.send(method, path, body, { bearer: bearers[caller], headers });
      answers[caller] = answer.status === 200 ? '200' : String(answer.body.error_code);
    }
    expect(answers).toEqual({ ...table[route], ...elsewhere(table[route]!) });
  });

  it('a trusted device is no second factor (T288)', async () => {
    const { bearer } = await givenCaller(service, { isAdmin: true }, 'device');
    expect(await service.get('/admin/users', { bearer })).toMatchObject({ body: { error_code: 'AUTH_403001' } });
  });

  it('ADMIN_REQUIRES_MFA=false admits a session by password alone, and ADMIN_API=off or OIDC=off has no such path', async () => {
    const { store, clock } = service;
    const relaxed = await TestService.start({ ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false' }, { store, clock });
    const off = await TestService.start({ ADMIN_API: '', ...openIdSettings }, { store, clock });
    const without = await TestService.start({ ADMIN_API: 'on', OIDC: 'off' }, { store, clock });
    try {
      const bearer = await tokenOf(relaxed, (await givenCaller(relaxed, { isAdmin: true })).user, null);
      expect((await relaxed.get('/admin/users', { bearer })).status).toBe(200);
      for (const [at, method, path] of [
        [off, 'GET', '/admin/users'],
        [off, 'DELETE', `/admin/users/${crypto.randomUUID()}`],
        [off, 'GET', '/admin/overview'],
        [off, 'GET', '/admin/applications'],
        [without, 'GET', '/admin/applications'],
        [without, 'POST', '/admin/applications'],
        [without, 'GET', '/user/applications'],
      ] as const) {
        const unknown = await at.app.inject({ method, url: '/no-such-path' });
        const { statusCode, body } = await at.app.inject({ method, url: path });
        expect({ statusCode, body }).toEqual({ statusCode: unknown.statusCode, body: unknown.body });
      }
    } finally {
      await relaxed.stop({ keepStore: true });
      await off.stop({ keepStore: true });
      await without.stop({ keepStore: true });
    }
  });

  it.each([
    ['disabled', 'status = -1'],
    ['no longer an administrator', 'is_admin = 0'],
  ])('a caller who is %s is refused (T313)', async (_what, change) => {
    const { user, bearer } = await givenCaller(service, { isAdmin: true });
    await service.database.affected(`UPDATE users SET ${change} WHERE uid = ?`, [user.uid]);
    expect((await service.get('/admin/users', { bearer })).status).toBeGreaterThanOrEqual(401);
  });
});
