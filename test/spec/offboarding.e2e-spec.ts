import { timeOf } from '../../src/platform/database/sql';
import { LogoutTokens } from '../../src/applications/logout-tokens';
import { EventOutbox } from '../../src/events/event-outbox';
import { OffboardingWorker } from '../../src/offboarding/offboarding-worker';
import { UserOffboarding } from '../../src/admin/user-offboarding';
import { operatorAuthority } from '../../src/admin/authority';
import { givenCaller, givenTenant } from '../support/admin';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { givenApplication, signIn } from '../support/applications/application-rows';
import { answer as refuse, LogoutReceiver } from '../support/applications/logout-receiver';
import { accept, answer, WebhookReceiver } from '../support/events/webhook-receiver';
import { MfaClient, pairOf } from '../support/mfa';

/** docs/spec/extensions.md#offboarding, ADR 0039 */
describe('POST /admin/users/{uid}/offboard', () => {
  let service: TestService;
  let applications: LogoutReceiver;
  let webhook: WebhookReceiver;
  let admin: AdminClient;
  let wiki: string;
  beforeAll(async () => {
    [applications, webhook] = [await LogoutReceiver.start(), await WebhookReceiver.start()];
    service = await TestService.start({ ...adminSettings, ...webhook.settings, OIDC: 'on' });
    admin = await AdminClient.of(service, 'root-admin');
    await givenTenant(service, 'acme');
    wiki = await givenApplication(service, 'wiki', applications.uri('/wiki'));
  });
  afterAll(async () => {
    await service.stop();
    await applications.stop();
    await webhook.stop();
  });
  beforeEach(async () => {
    webhook.behaviour = accept;
    delete applications.behaviours['/wiki'];
    admin = await admin.again('root-admin');
  });

  let people = 0;
  const givenPerson = async () => {
    const name = `leaver-${++people}`;
    const { uid } = await service.givenUser(name);
    return { name, uid, ...(await service.session(name)) };
  };
  const offboard = (uid: string, body: object = {}) => admin.send('POST', `users/${uid}/offboard`, body);
  const receipt = async (uid: string) => (await admin.get(`users/${uid}/offboarding`)).body.data;
  const tellAll = async () => {
    await service.app.get(LogoutTokens).sendDue();
    await service.app.get(EventOutbox).sendDue();
    await service.app.get(OffboardingWorker).look();
  };
  const events = (uid: string, event: string) => service.count('audit_logs', 'user_id = ? AND event = ?', [uid, event]);
  const ended = (steps: { step: string; ended: number }[]) =>
    Object.fromEntries(steps.map(({ step, ended: n }) => [step, n]));

  it('disables the account and ends what was issued, and the receipt counts it', async () => {
    const { uid, name, access, refresh } = await givenPerson();
    await service.session(name);
    await signIn(service, access, wiki);
    await service.post('/forget-password', { email: `${name}@example.com` });
    await service.post('/recovery-codes', undefined, { bearer: access });
    await service.database.affected(
      `INSERT INTO oidc_records (id_hash, kind, payload, application_id, user_id, credential_version, created_at)
       VALUES (?, 'Grant', '', ?, ?, 0, ?)`,
      [uid, wiki, uid, service.clock.now()],
    );
    for (const spent of [null, service.clock.now()])
      await service.database.affected(
        `INSERT INTO external_sign_ins (state_hash, browser_hash, identity_provider_id, payload, user_id, spent_at, expires, created_at)
         VALUES (?, '', 'entra', '', ?, ?, ?, ?)`,
        [`${uid}${String(spent !== null)}`, uid, spent, service.clock.secondsFromNow(60), service.clock.now()],
      );
    const answered = await offboard(uid, { via: 'console' });
    expect(outcomeOf(answered)).toBe('success');
    const { offboarding, earlier } = answered.body.data;
    expect(earlier).toEqual([]);
    expect(offboarding).toMatchObject({
      ...{ via: 'console', began_by: admin.uid, began_at: service.clock.now().toISOString() },
      ...{ complete: false, completed_at: null, seconds: null, given_up: 0, restored_at: null, restored_by: null },
      receivers: [
        { kind: 'application', id: wiki, name: 'wiki', sessions: 1, status: 'waiting', attempts: 0, answer: null },
        { kind: 'webhook', id: null, name: null, sessions: null, status: 'waiting' },
      ],
    });
    expect(ended(offboarding.steps)).toEqual({
      ...{ account: 1, sessions: 2, trusted_devices: 0, pending_logins: 0 },
      ...{ links: 1, enrolments: 0, recovery_codes: 10, grants: 1, external_sign_ins: 1 },
    });
    expect(await service.userRow(uid)).toMatchObject({ status: -1 });
    expect((await service.get('/user/me', { bearer: access })).body.error_code).toBe('AUTH_401004');
    expect((await service.post('/refresh', undefined, { bearer: refresh })).body.error_code).toBe('AUTH_401006');
    expect((await service.login(name)).status).toBe(401);
    expect(await service.count('recovery_codes', 'user_id = ?', [uid])).toBe(0);
    expect(await service.count('oidc_records', 'user_id = ?', [uid])).toBe(0);
    expect(await events(uid, 'USER_OFFBOARDING_STARTED')).toBe(1);
    expect(await events(uid, 'USER_STATUS_CHANGED')).toBe(1);
    await tellAll();
  });

  it('is complete when the last receiver has answered, and says so once, with the seconds (T594)', async () => {
    const { uid, access } = await givenPerson();
    await signIn(service, access, wiki);
    await offboard(uid);
    service.clock.advanceSeconds(1);
    await service.app.get(LogoutTokens).sendDue();
    expect((await receipt(uid)).offboarding).toMatchObject({ complete: false, receivers: [{ status: 'told' }, {}] });
    service.clock.advanceSeconds(2.2);
    await service.app.get(EventOutbox).sendDue();
    // The receipt does not wait for the look that writes the event, and its time is that of the last answer.
    service.clock.advanceSeconds(40);
    const done = { complete: true, seconds: 3.2, given_up: 0 };
    expect((await receipt(uid)).offboarding).toMatchObject(done);
    expect(await events(uid, 'USER_OFFBOARDED')).toBe(0);
    for (let look = 0; look < 3; look++) await tellAll();
    expect((await receipt(uid)).offboarding).toMatchObject({
      ...done,
      receivers: [
        { kind: 'application', status: 'told', attempts: 1, answer: 'status 200', next_attempt_at: null },
        { kind: 'webhook', status: 'told', next_attempt_at: null },
      ],
    });
    expect(await events(uid, 'USER_OFFBOARDED')).toBe(1);
    const told = webhook.seen.filter(({ type, data }) => type === 'user.offboarded' && data.user_id === uid);
    expect(told).toHaveLength(1);
    expect(told[0]!.data.detail).toMatchObject({ seconds: 3.2, receivers: 2, given_up: 0, not_offered: 0, via: 'api' });
  });

  it('the receipt tells what is open: attempts, the last answer and the next attempt', async () => {
    const { uid, access } = await givenPerson();
    await signIn(service, access, wiki);
    applications.behaviours['/wiki'] = refuse(503);
    webhook.behaviour = answer(500);
    await offboard(uid);
    await tellAll();
    const { receivers, complete } = (await receipt(uid)).offboarding;
    expect(complete).toBe(false);
    const waiting = { status: 'waiting', attempts: 1, answered_at: null, next_attempt_at: expect.any(String) };
    expect(receivers).toMatchObject([
      { ...waiting, answer: 'status 503' },
      { ...waiting, answer: 'status 500' },
    ]);
    expect(await events(uid, 'USER_OFFBOARDED')).toBe(0);
    // The next look is not due before a second has passed.
    delete applications.behaviours['/wiki'];
    webhook.behaviour = accept;
    service.clock.advanceSeconds(5);
    await tellAll();
    expect(await events(uid, 'USER_OFFBOARDED')).toBe(1);
  });

  it('a receiver that is given up ends the waiting, and the receipt and the event say so (T595)', async () => {
    const { uid, access } = await givenPerson();
    await signIn(service, access, wiki);
    applications.behaviours['/wiki'] = refuse(503);
    await offboard(uid);
    await tellAll();
    service.clock.advanceSeconds(86_401);
    admin = await admin.again('root-admin');
    await tellAll();
    const { offboarding } = await receipt(uid);
    expect(offboarding).toMatchObject({ complete: true, given_up: 1, receivers: [{ status: 'failed' }, {}] });
    await service.app.get(EventOutbox).sendDue();
    const [event] = webhook.seen.filter(({ type, data }) => type === 'user.offboarded' && data.user_id === uid);
    expect(event!.data.detail).toMatchObject({ given_up: 1, receivers: 2 });
  });

  it('an application without a logout address is named, and waits for nobody', async () => {
    const silent = await givenApplication(service, 'silent');
    const { uid, access } = await givenPerson();
    await signIn(service, access, silent);
    await offboard(uid);
    await tellAll();
    expect((await receipt(uid)).offboarding).toMatchObject({
      complete: true,
      receivers: [{ name: 'silent', status: 'not_offered', attempts: 0 }, { kind: 'webhook' }],
    });
  });

  it('a second call changes nothing; coming back is a line of the record, and leaving again another record', async () => {
    const { uid, name } = await givenPerson();
    const first = (await offboard(uid)).body.data.offboarding;
    await tellAll();
    const second = (await offboard(uid)).body.data;
    expect(second).toMatchObject({ offboarding: { id: first.id }, earlier: [] });
    expect(await events(uid, 'USER_OFFBOARDING_STARTED')).toBe(1);
    service.clock.advanceSeconds(60);
    await admin.send('PATCH', `users/${uid}`, { status: 1 });
    const restored = { restored_at: service.clock.now().toISOString(), restored_by: admin.uid };
    expect((await receipt(uid)).offboarding).toMatchObject({ id: first.id, ...restored });
    // The account is used again, and nothing of that reaches the first record.
    const { access } = await service.session(name);
    await signIn(service, access, wiki);
    service.clock.advanceSeconds(60);
    const { offboarding, earlier } = (await offboard(uid)).body.data;
    expect(offboarding.receivers).toMatchObject([{ name: 'wiki' }, { kind: 'webhook' }]);
    expect(earlier).toMatchObject([{ id: first.id, ...restored, complete: true }]);
    expect(earlier[0].receivers).toHaveLength(1);
    await tellAll();
  });

  it('ends the authenticator that nobody has confirmed, and the confirmed one works for whoever comes back', async () => {
    const mfa = new MfaClient(service);
    const { uid, name, access } = await givenPerson();
    const { secret } = await mfa.newSecret(access);
    const confirmed = pairOf(await mfa.verify(uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    await mfa.newSecret(confirmed.access);
    expect(ended((await offboard(uid)).body.data.offboarding.steps)).toMatchObject({ enrolments: 1 });
    service.clock.advanceSeconds(60);
    await admin.send('PATCH', `users/${uid}`, { status: 1 });
    const again = await service.session(name);
    service.clock.advanceSeconds(301);
    // An old session replaces the authenticator with a code of the confirmed one.
    await mfa.newSecret(again.access, { code: mfa.code(secret) });
    await tellAll();
  });

  it('the record outlives the rows that it was read from, and the erasure of the user, by the uid alone', async () => {
    const { uid, access } = await givenPerson();
    await signIn(service, access, wiki);
    await offboard(uid);
    await tellAll();
    const before = (await receipt(uid)).offboarding;
    for (const table of ['application_logouts', 'event_outbox'])
      await service.database.affected(`DELETE FROM ${table}`);
    expect((await receipt(uid)).offboarding).toEqual(before);
    await admin.send('DELETE', `users/${uid}`);
    expect((await admin.get(`users/${uid}/offboarding`)).body.error_code).toBe('USER_404001');
    const row = await service.database.row<Record<string, unknown>>('SELECT * FROM offboardings WHERE user_id = ?', [
      uid,
    ]);
    expect(JSON.stringify(row)).not.toMatch(/leaver-|example\.com/);
  });

  it('an event that was purged before anybody took it ends the waiting as given up', async () => {
    const { uid } = await givenPerson();
    webhook.behaviour = answer(500);
    await offboard(uid);
    await service.database.affected('DELETE FROM event_outbox');
    service.clock.advanceSeconds(2);
    await service.app.get(OffboardingWorker).look();
    expect((await receipt(uid)).offboarding).toMatchObject({
      ...{ complete: true, given_up: 1 },
      receivers: [{ kind: 'webhook', status: 'failed', answer: 'purged' }],
    });
    await service.database.affected('DELETE FROM event_streams');
  });

  it('nobody lets themselves leave, nor a user of another tenant, nor an administrator above them (T590, T591)', async () => {
    expect((await offboard(admin.uid)).body.error_code).toBe('USER_409002');
    const foreign = await givenCaller(service, { tenantId: 'root' });
    const above = await givenCaller(service, { tenantId: 'acme', isAdmin: true });
    const theirs = await givenCaller(service, { tenantId: 'acme' });
    const tenantAdmin = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    const tries = async (uid: string) => outcomeOf(await tenantAdmin.send('POST', `users/${uid}/offboard`, {}));
    expect(await tries(foreign.user.uid)).toBe('USER_404001');
    expect((await tenantAdmin.get(`users/${foreign.user.uid}/offboarding`)).body.error_code).toBe('USER_404001');
    expect(await tries(above.user.uid)).toBe('AUTH_403001');
    expect(await tries(theirs.user.uid)).toBe('success');
    for (const { user } of [foreign, above]) expect(await service.userRow(user.uid)).toMatchObject({ status: 1 });
    expect(await service.count('offboardings', 'user_id IN (?, ?)', [foreign.user.uid, above.user.uid])).toBe(0);
  });

  it('the last administrator stays, also for the command line, and nothing is half done (T590)', async () => {
    const leaving = service.app.get(UserOffboarding);
    const others = await service.database.rows<{ uid: string }>(
      "SELECT uid FROM users WHERE is_admin = 1 AND tenant_id = 'root' AND uid <> ? AND status = 1",
      [admin.uid],
    );
    for (const { uid } of others) await leaving.offboard(operatorAuthority, uid, 'cli');
    await expect(leaving.offboard(operatorAuthority, admin.uid, 'cli')).rejects.toMatchObject({
      entry: expect.objectContaining({ code: 'USER_409002' }),
    });
    expect(await service.userRow(admin.uid)).toMatchObject({ status: 1 });
    expect(await service.count('offboardings', 'user_id = ?', [admin.uid])).toBe(0);
    expect(outcomeOf(await admin.get('overview'))).toBe('success');
  });

  it('answers null for a user who never left, and refuses a wrong origin', async () => {
    const { user } = await givenCaller(service);
    expect(await receipt(user.uid)).toEqual({ offboarding: null, earlier: [] });
    const wrong = await offboard(user.uid, { via: 'scim' });
    expect(wrong.body.error_code).toBe('COMMON_400001');
    expect(outcomeOf(await admin.send('POST', `users/${user.uid}/offboard`))).toBe('success');
    const times = await service.database.row<{ at: unknown }>(
      'SELECT began_at AS at FROM offboardings WHERE user_id = ?',
      [user.uid],
    );
    expect(timeOf(times!.at)).toEqual(service.clock.now());
  });
});
