import { createPublicKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import { LogoutTokens } from '../../src/applications/logout-tokens';
import { AppConfig } from '../../src/settings/app-config';
import { TestService } from '../support/app';
import { givenApplication, logoutRows, nextAttempt, signIn } from '../support/applications/application-rows';
import { accept, answer, hang, LogoutReceiver } from '../support/applications/logout-receiver';
import { eventually } from '../support/servers/eventually';

const backChannel = 'http://schemas.openid.net/event/backchannel-logout';

/** docs/spec/extensions.md#j and OpenID Connect Back-Channel Logout 1.0, at real receivers. */
describe('the logout tokens', () => {
  let service: TestService;
  let receiver: LogoutReceiver;
  let applications = 0;
  let users = 0;

  beforeAll(async () => {
    receiver = await LogoutReceiver.start();
    service = await TestService.start({ OIDC: 'on' });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });
  beforeEach(() => receiver.seen.splice(0));

  /** An application that listens at a path of its own. */
  async function givenReceiver(): Promise<{ id: string; path: string }> {
    const path = `/logout-${++applications}`;
    return { id: await givenApplication(service, `application-${applications}`, receiver.uri(path)), path };
  }
  /** A session that has signed in to these applications and has ended. */
  async function givenEnd(...ids: readonly string[]): Promise<{ sid: string; uid: string }> {
    const name = `person-${++users}`;
    const { uid } = await service.givenUser(name);
    const { access } = await service.session(name);
    let sid = '';
    for (const id of ids) sid = await signIn(service, access, id);
    expect((await service.post('/logout', undefined, { bearer: access })).status).toBe(200);
    return { sid, uid };
  }
  const sendDue = () => service.app.get(LogoutTokens, { strict: false }).sendDue();
  const at = (path: string) => receiver.seen.filter((logout) => logout.path === path);
  const rowOf = async (sid: string) => (await logoutRows(service, sid))[0]!;

  it('are signed by the key of the provider, with the claims of the standard, and each application gets its own', async () => {
    const [wiki, mail] = [await givenReceiver(), await givenReceiver()];
    const { sid, uid } = await givenEnd(wiki.id, mail.id);
    await sendDue();
    expect(receiver.seen.map(({ path }) => path).sort()).toEqual([wiki.path, mail.path].sort());
    const { issuer, keys } = service.app.get(AppConfig).openId!;
    for (const { id, path } of [wiki, mail]) {
      const [{ token, headers }] = at(path) as [(typeof receiver.seen)[number]];
      expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
      const options = { issuer, audience: id, typ: 'logout+jwt', currentDate: service.clock.now() };
      const { payload, protectedHeader } = await jwtVerify(token, createPublicKey(keys[0].key), options);
      const row = (await logoutRows(service, sid)).find((one) => one.application_id === id)!;
      const iat = Math.floor(service.clock.now().getTime() / 1000);
      expect(payload).toEqual({
        ...{ iss: issuer, aud: id, sub: uid, sid, jti: row.id, iat, exp: iat + 120 },
        events: { [backChannel]: {} },
      });
      expect(protectedHeader.kid).toMatch(/^[\w-]{43}$/);
      expect(row).toMatchObject({ status: 1, attempts: 1, answer: 'status 200' });
    }
    await sendDue();
    expect(receiver.seen).toHaveLength(2);
  });

  it('a receiver that answers 500, a redirect or nothing useful gets the token again, with its jti, until it accepts', async () => {
    const { id, path } = await givenReceiver();
    const { sid } = await givenEnd(id);
    for (const [n, status] of [500, 302, 400].entries()) {
      receiver.behaviours[path] = answer(status, { location: receiver.uri('/elsewhere') });
      await sendDue();
      expect(await rowOf(sid)).toMatchObject({ status: 0, attempts: n + 1, answer: `status ${status}` });
      // Nothing is due before its time.
      await sendDue();
      expect(at(path)).toHaveLength(n + 1);
      expect((await nextAttempt(service, sid)) > service.clock.now()).toBe(true);
      service.clock.advanceSeconds(60 * 4 ** n);
    }
    receiver.behaviours[path] = accept;
    await sendDue();
    expect(await rowOf(sid)).toMatchObject({ status: 1, attempts: 4, answer: 'status 200' });
    expect(at('/elsewhere')).toEqual([]);
    const seen = at(path);
    expect(new Set(seen.map(({ claims }) => claims.jti))).toEqual(new Set([(await rowOf(sid)).id]));
    // Receivers refuse an old token, so each attempt has a new one.
    expect(new Set(seen.map(({ claims }) => claims.iat)).size).toBe(4);
  });

  it('are given up after a day, which the receipt tells', async () => {
    const { id, path } = await givenReceiver();
    receiver.behaviours[path] = answer(503);
    const { sid } = await givenEnd(id);
    await sendDue();
    for (let hours = 0; hours < 23; hours++) {
      service.clock.advanceSeconds(3600);
      await sendDue();
    }
    const tried = at(path).length;
    expect(tried).toBeGreaterThan(10);
    expect(await rowOf(sid)).toMatchObject({ status: 0, attempts: tried });
    service.clock.advanceSeconds(2 * 3600);
    await sendDue();
    expect(await rowOf(sid)).toMatchObject({ status: 2, attempts: tried + 1, answer: 'status 503' });
    service.clock.advanceSeconds(86_400);
    await sendDue();
    expect(at(path)).toHaveLength(tried + 1);
    expect(await service.app.get(LogoutTokens, { strict: false }).figures()).toMatchObject({ waiting: 0, failed: 1 });
  });

  it('an application that hangs, with more tokens than senders, holds up no other one (T507)', async () => {
    const [slow, quick] = [await givenReceiver(), await givenReceiver()];
    receiver.behaviours[slow.path] = hang;
    for (let n = 0; n < 6; n++) await givenEnd(slow.id);
    const { sid } = await givenEnd(quick.id);
    const sending = sendDue();
    await eventually(async () => Number((await rowOf(sid)).status) === 1, { what: 'the other application is told' });
    expect(at(slow.path).length).toBeLessThanOrEqual(4);
    // The receiver wakes up, and gets all of them.
    receiver.behaviours[slow.path] = accept;
    receiver.cut();
    await sending;
    service.clock.advanceSeconds(5);
    await sendDue();
    await sendDue();
    expect(
      new Set(receiver.accepted.filter(({ path }) => path === slow.path).map(({ claims }) => claims.jti)).size,
    ).toBe(6);
  });

  it('an application that was deleted, or has no URI any more, is not asked', async () => {
    const [gone, silent] = [await givenReceiver(), await givenReceiver()];
    const [first, second] = [await givenEnd(gone.id), await givenEnd(silent.id)];
    await service.database.affected('DELETE FROM applications WHERE id = ?', [gone.id]);
    await service.database.affected('UPDATE applications SET backchannel_logout_uri = NULL WHERE id = ?', [silent.id]);
    const tokens = service.app.get(LogoutTokens, { strict: false });
    expect(await tokens.figures()).toMatchObject({ waiting: 1 });
    await sendDue();
    expect(receiver.seen).toEqual([]);
    const [receipt] = await tokens.receipts(first.uid, 10);
    expect(receipt).toMatchObject({ status: 'failed', answer: 'application deleted', application: { name: null } });
    const told = await tokens.told(first.uid, new Date(0), service.clock.secondsFromNow(60));
    expect(told).toMatchObject([{ status: 'failed', answer: 'application deleted', name: null, nextAttemptAt: null }]);
    expect(await rowOf(second.sid)).toMatchObject({ status: 3, answer: null });
  });

  it('never go to a link-local address, and by http to loopback alone (T504)', async () => {
    const metadata = await givenApplication(service, 'metadata', 'https://169.254.169.254/latest');
    const plain = await givenApplication(service, 'plain', 'http://wiki.example.com/logout');
    const { sid } = await givenEnd(metadata, plain);
    await sendDue();
    const rows = await logoutRows(service, sid);
    expect(rows.map((row) => [row.application_id, row.answer]).sort()).toEqual(
      [
        [metadata, 'link-local'],
        [plain, 'not permitted'],
      ].sort(),
    );
  });
});
