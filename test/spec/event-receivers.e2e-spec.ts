import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { AuditTrail, type AuditEvent } from '../../src/audit/audit-trail';
import { ReceiverDelivery } from '../../src/events/receiver-delivery';
import { receiverLimits } from '../../src/events/receiver-limits';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { cloudEventSchema } from '../support/events/cloud-event-schema';
import { testReceiverLimits } from '../support/events/event-replica';
import { webhookFault } from '../support/events/verify-webhook';
import { accept, answer, WebhookReceiver } from '../support/events/webhook-receiver';
import { givenGroup } from '../support/groups';
import { openIdSettings } from '../support/openid';

// No automatic polls: the test decides when events are sent.
Object.assign(receiverLimits, testReceiverLimits);

const caep = 'https://schemas.openid.net/secevent/caep/event-type';
const risc = 'https://schemas.openid.net/secevent/risc/event-type';

describe('further receivers of events through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let siem: WebhookReceiver;

  beforeAll(async () => {
    siem = await WebhookReceiver.start();
    service = await TestService.start({ ...adminSettings, ...openIdSettings, EVENT_RECEIVERS: 'on' });
    root = await AdminClient.of(service, 'root-admin');
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'x', ?)", [new Date()]);
  });
  afterAll(async () => {
    await service.stop();
    await siem.stop();
  });
  beforeEach(async () => {
    root = await root.again('root-admin');
    siem.behaviour = accept;
    for (const table of ['event_receivers', 'receiver_events', 'audit_logs']) {
      await service.database.affected(`DELETE FROM ${table}`);
    }
    siem.seen.splice(0);
  });

  const given = (more: object = {}) => root.send('POST', 'event-receivers', { id: 'siem', url: siem.url, ...more });
  const send = () => service.app.get(ReceiverDelivery).sendDue();
  const record = (event: AuditEvent, detail = {}, userId: string | null = 'alice') =>
    service.app.get(AuditTrail).record(service.database, event, { ...(userId && { userId }), detail });
  const audits = async () =>
    (
      await service.database.rows<{ event: string; detail: string }>(
        "SELECT event, detail FROM audit_logs WHERE event LIKE 'EVENT_RECEIVER%' ORDER BY id",
      )
    ).map(({ event, detail }) => [event, JSON.parse(detail) as unknown]);

  it('a receiver is made, shown without its secret, changed, paused and deleted, with an audit row each', async () => {
    const made = await given({ types: ['user.*'], tenants: ['acme'] });
    const { secret, ...view } = made.body.data;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(view).toEqual({
      ...{ id: 'siem', url: siem.url, format: 'native', types: ['user.*'], tenants: ['acme'], audience: null },
      ...{ enabled: true, waiting: expect.any(Number), oldest_waiting_seconds: 0, last_success_at: null },
      ...{ failing_since: null, last_error: null, last_error_at: null, next_attempt_at: null, set_aside: 0 },
      ...{ last_set_aside: null, old_secret_expires_at: null },
      ...{ created_at: expect.stringMatching(/Z$/), changed_at: expect.stringMatching(/Z$/) },
    });
    const [item] = await root.items('event-receivers');
    expect([item.id, item.secret]).toEqual(['siem', undefined]);
    expect((await root.get('event-receivers/siem')).body.data.secret).toBeUndefined();
    const changed = await root.send('PATCH', 'event-receivers/siem', { types: [], tenants: [], enabled: false });
    expect(changed.body.data).toMatchObject({ enabled: false, types: [], tenants: [] });
    await record('USER_UNLOCKED');
    await send();
    expect(siem.seen).toEqual([]);
    await root.send('PATCH', 'event-receivers/siem', { enabled: true });
    await send();
    expect(siem.accepted.map(({ type }) => type)).toContain('user.unlocked');
    for (const event of siem.accepted) expect(webhookFault(secret, event, service.clock.now())).toBeUndefined();
    const rotated = await root.send('POST', 'event-receivers/siem/rotate-secret', { keep_old_seconds: 60 });
    expect(rotated.body.data.secret).not.toBe(secret);
    expect((await root.send('DELETE', 'event-receivers/siem')).body.data).toEqual({ result: true });
    expect(outcomeOf(await root.get('event-receivers/siem'))).toBe('USER_404001');
    expect(await audits()).toEqual([
      ['EVENT_RECEIVER_CREATED', { receiver: 'siem', format: 'native' }],
      ['EVENT_RECEIVER_CHANGED', { receiver: 'siem', fields: 'types tenants enabled', enabled: false }],
      ['EVENT_RECEIVER_CHANGED', { receiver: 'siem', fields: 'enabled', enabled: true }],
      ['EVENT_RECEIVER_SECRET_ROTATED', { receiver: 'siem', keep_old_seconds: 60 }],
      ['EVENT_RECEIVER_DELETED', { receiver: 'siem' }],
    ]);
  });

  it.each<[string, object, string]>([
    ['an id that no metric could have', { id: 'Siem 1' }, 'id'],
    ['the id of the receiver of WEBHOOK_URL', { id: 'default' }, 'id'],
    ['http to another machine', { url: 'http://siem.example.com/' }, 'url'],
    ['a password in the URL', { url: 'https://a:b@siem.example.com/' }, 'url'],
    ['another format', { format: 'xml' }, 'format'],
    ['a type that does not exist', { types: ['user.*', 'user.unlock'] }, 'types[1]'],
    ['a prefix that covers nothing', { types: ['nobody.*'] }, 'types[0]'],
    ['a type that is no text', { types: [7] }, 'types[0]'],
    ['a type twice', { types: ['user.*', 'user.*'] }, 'types'],
    ['a tenant that does not exist', { tenants: ['nowhere'] }, 'tenants[0]'],
    ['a tenant that is no text', { tenants: [null] }, 'tenants[0]'],
    ['null as a list', { types: null }, 'types'],
  ])('%s is COMMON_400001 with the name of the field', async (_what, body, field) => {
    const { body: refusal } = await given(body);
    expect(refusal.error_code).toBe('COMMON_400001');
    expect(JSON.stringify(refusal)).toContain(`"${field}"`);
    expect(await root.items('event-receivers')).toEqual([]);
  });

  it('a taken id, and the 21st receiver, are COMMON_400001', async () => {
    for (let n = 0; n < 20; n++) expect(outcomeOf(await given({ id: `siem-${n}` }))).toBe('success');
    expect(outcomeOf(await given({ id: 'one-more' }))).toBe('COMMON_400001');
    await root.send('DELETE', 'event-receivers/siem-7');
    expect(outcomeOf(await given({ id: 'siem-8' }))).toBe('COMMON_400001');
    const first = (await root.get('event-receivers?limit=10')).body.data;
    const second = (await root.get(`event-receivers?limit=10&after=${first.next}`)).body.data;
    expect([first.items.length, second.items.length, second.next]).toEqual([10, 9, null]);
  });

  it('an address that only the machine or its link answers is refused, and no redirect is followed (T685)', async () => {
    await given({ url: 'https://169.254.169.254/latest/meta-data/' });
    const test = () => root.send('POST', 'event-receivers/siem/test');
    expect((await test()).body.data).toEqual({ accepted: false, answer: 'link-local' });
    await root.send('PATCH', 'event-receivers/siem', { url: siem.url });
    siem.behaviour = answer(307, { location: `${siem.url}/elsewhere` });
    expect((await test()).body.data).toEqual({ accepted: false, answer: 'status 307' });
    siem.behaviour = accept;
    expect((await test()).body.data).toEqual({ accepted: true, answer: null });
    expect(siem.seen.map(({ path, type }) => [path, type])).toEqual([
      ['/events', 'webhook.test'],
      ['/events', 'webhook.test'],
    ]);
    expect((await audits()).filter(([event]) => event === 'EVENT_RECEIVER_TESTED')).toHaveLength(3);
  });

  it('an accepted event whose answer is endless, long or compressed is not sent again', async () => {
    await given({ types: ['user.unlocked'] });
    siem.behaviour = (event, response) => {
      event.accepted = true;
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.alloc(100_000));
    };
    await record('USER_UNLOCKED');
    await send();
    service.clock.advanceSeconds(10);
    await send();
    expect(siem.seen).toHaveLength(1);
  });

  it('a replay sends one receiver its events of a time once more, and it needs a time or an event', async () => {
    await given({ types: ['user.unlocked'] });
    await given({ id: 'other', types: ['user.unlocked'] });
    await record('USER_UNLOCKED', { n: 1 });
    service.clock.advanceSeconds(1);
    const from = service.clock.now().toISOString();
    await record('USER_UNLOCKED', { n: 2 });
    await send();
    expect(siem.seen).toHaveLength(4);
    const former = siem.seen.splice(0);
    const replay = (body: object) => root.send('POST', 'event-receivers/siem/replay', body);
    expect(outcomeOf(await replay({ from }))).toBe('success');
    await send();
    expect(siem.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      expect.objectContaining({ type: 'user.unlocked', replay_of: former.find(({ data }) => data.detail.n === 2)!.id }),
    ]);
    for (const body of [{}, { from, event: former[0]!.id }, { from: '2026-02-30T10:00:00Z' }, { event: 'x' }]) {
      expect(outcomeOf(await replay(body))).toBe('COMMON_400001');
    }
  });

  it('a replay of a receiver that was deleted and made again has new ids as well, so what handles each id once takes it', async () => {
    const types = ['user.unlocked'];
    await given({ types });
    await record('USER_UNLOCKED');
    await send();
    const replayed = async () => {
      await root.send('POST', 'event-receivers/siem/replay', { event: siem.seen[0]!.id });
      await send();
    };
    await replayed();
    await root.send('DELETE', 'event-receivers/siem');
    await given({ types });
    await replayed();
    expect(siem.seen.map(({ body }) => (JSON.parse(body) as { replay_of?: string }).replay_of)).toEqual([
      ...[undefined, siem.seen[0]!.id, siem.seen[0]!.id],
    ]);
    expect(new Set(siem.seen.map(({ id }) => id)).size).toBe(3);
  });

  it('CloudEvents have the form of the specification, and a replay names the first sending', async () => {
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    await given({ format: 'cloudevents', types: ['user.unlocked', 'config.changed'] });
    await record('USER_UNLOCKED', { n: 1 });
    await record('CONFIG_CHANGED', { key: 'SMTP/SENDER' }, null);
    await send();
    await root.send('POST', 'event-receivers/siem/replay', { event: siem.seen[0]!.id });
    await send();
    expect(siem.seen).toHaveLength(4);
    const bodies = siem.seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    for (const body of bodies) expect([ajv.validate(cloudEventSchema, body), ajv.errors]).toEqual([true, null]);
    expect(siem.seen[0]!.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(bodies[0]).toEqual({
      ...{ specversion: '1.0', id: siem.seen[0]!.id, source: 'http://portal.test', type: 'user.unlocked' },
      ...{ subject: 'alice', time: service.clock.now().toISOString(), datacontenttype: 'application/json' },
      data: expect.objectContaining({ event: 'USER_UNLOCKED', user_id: 'alice', detail: { n: 1 } }),
    });
    expect(bodies[1]!.subject).toBeUndefined();
    expect(bodies[2]!.replayof).toBe(bodies[0]!.id);
  });

  it('an event stays with the tenant that its user had when it happened, also when the user moves before it is sent', async () => {
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('beta', 'x', ?)", [new Date()]);
    await given({ tenants: ['beta'] });
    const { uid } = await service.givenUser('mover', { tenantId: 'acme' });
    await givenGroup(service, 'Of acme', { tenantId: 'acme', members: [uid] });
    await service.session('mover');
    await root.send('PATCH', `users/${uid}`, { tenant_id: 'beta' });
    await service.session('mover');
    await send();
    const types = () => siem.seen.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types()).toEqual(['user.changed', 'login.succeeded']);
    siem.seen.splice(0);
    await root.send('PATCH', 'event-receivers/siem', { tenants: ['acme'] });
    await root.send('POST', 'event-receivers/siem/replay', { from: service.clock.secondsFromNow(-60).toISOString() });
    await send();
    expect(types()).toEqual(['login.succeeded', 'group.member_removed']);
  });

  describe('as Security Event Tokens', () => {
    const verified = async (token: string, audience = siem.url) => {
      const keys = createLocalJWKSet(JSON.parse((await service.get('/oidc/jwks')).raw.toString()) as JSONWebKeySet);
      const rules = { typ: 'secevent+jwt', issuer: 'http://portal.test/oidc', audience };
      return (await jwtVerify(token, keys, { ...rules, currentDate: service.clock.now() })).payload;
    };
    const user = { format: 'iss_sub', iss: 'http://portal.test/oidc', sub: 'alice' };
    const told = () => Math.floor(service.clock.now().getTime() / 1000);

    it('the end of a session is session-revoked of CAEP, which the published keys verify (T686)', async () => {
      await given({ format: 'set' });
      await record('SESSION_CLOSED', { sid: 'the-session' });
      await send();
      const [{ headers, body, id }] = siem.seen as [(typeof siem.seen)[number]];
      expect(headers['content-type']).toBe('application/secevent+jwt');
      expect(await verified(body)).toEqual({
        ...{ iss: 'http://portal.test/oidc', aud: siem.url, iat: told(), toe: told(), jti: id },
        sub_id: { format: 'complex', user, session: { format: 'opaque', id: 'the-session' } },
        events: {
          [`${caep}/session-revoked`]: {
            ...{ event_timestamp: told(), initiating_entity: 'user', reason_admin: { en: 'session.closed' } },
          },
        },
      });
    });

    it.each<[AuditEvent, object, string, object]>([
      ['USER_TOKENS_REVOKED', { revoked: 3 }, `${caep}/session-revoked`, { initiating_entity: 'admin' }],
      ['REFRESH_TOKEN_REUSED', { sid: 'x' }, `${caep}/session-revoked`, { initiating_entity: 'system' }],
      [
        'USER_PASSWORD_CHANGED',
        { type: 'own' },
        `${caep}/credential-change`,
        { credential_type: 'password', change_type: 'update', initiating_entity: 'user' },
      ],
      ['TOTP_RESET', {}, `${caep}/credential-change`, { credential_type: 'app', change_type: 'delete' }],
      ['USER_STATUS_CHANGED', { from: 1, to: -1 }, `${risc}/account-disabled`, {}],
      ['USER_STATUS_CHANGED', { from: -1, to: 1 }, `${risc}/account-enabled`, {}],
      ['USER_DELETED', {}, `${risc}/account-purged`, {}],
    ])('%s %j is %s', async (event, detail, uri, claims) => {
      await given({ format: 'set', audience: 'https://receiver.example.com' });
      await record(event, detail);
      await send();
      const { events } = await verified(siem.seen[0]!.body, 'https://receiver.example.com');
      expect(events).toEqual({ [uri]: expect.objectContaining(claims) });
    });

    it('an event without a meaning there is not sent, and a token holds nothing of its detail', async () => {
      await given({ format: 'set' });
      await record('USER_CHANGED', { fields: 'nickname' });
      await record('USER_STATUS_CHANGED', { from: 1, to: 0 });
      await record('SESSION_CLOSED', { sid: 'x' }, null);
      await record('PASSKEY_ADDED', { passkey: '7', name: 'the key of Alice' });
      await send();
      expect(siem.seen).toHaveLength(1);
      const payload = JSON.stringify(await verified(siem.seen[0]!.body));
      expect(payload).toContain('passkey');
      expect(payload).not.toContain('the key of Alice');
    });

    it('a test is the verification event, and the error of RFC 8935 is what the receiver said, if it is a word', async () => {
      await given({ format: 'set' });
      expect((await root.send('POST', 'event-receivers/siem/test')).body.data.accepted).toBe(true);
      const { events } = await verified(siem.seen[0]!.body);
      expect(events).toEqual({ 'https://schemas.openid.net/secevent/ssf/event-type/verification': {} });
      for (const [err, said] of [
        ['invalid_audience', 'status 400 invalid_audience'],
        ['<script>', 'status 400'],
      ]) {
        siem.behaviour = answer(400, { 'content-type': 'application/json' }, JSON.stringify({ err, description: 'x' }));
        expect((await root.send('POST', 'event-receivers/siem/test')).body.data.answer).toBe(said);
      }
    });

    it('without the keys of the OpenID provider no receiver can have this format, and off is off', async () => {
      const { store, clock } = service;
      const plain = await TestService.start({ ...adminSettings, EVENT_RECEIVERS: 'on', OIDC: 'off' }, { store, clock });
      const off = await TestService.start({ ...adminSettings, EVENT_RECEIVERS: 'off' }, { store, clock });
      try {
        const { access } = await service.session('root-admin');
        const body = { id: 'siem', url: siem.url, format: 'set' };
        const refused = await plain.post('/admin/event-receivers', body, { bearer: access });
        expect(JSON.stringify(refused.body)).toContain('cannot be set while OIDC is off');
        const headers = { authorization: `Bearer ${access}` };
        const asked = await off.app.inject({ method: 'GET', url: '/admin/event-receivers', headers });
        expect(asked.json()).toMatchObject({ error_code: 'COMMON_404001' });
      } finally {
        await plain.stop();
        await off.stop();
      }
    });
  });
});
