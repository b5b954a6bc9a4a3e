import { EventOutbox } from '../../src/events/event-outbox';
import { eventLimits } from '../../src/events/event-limits';
import { AuditTrail } from '../../src/audit/audit-trail';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { testEventLimits } from '../support/events/event-replica';
import { accept, answer, WebhookReceiver } from '../support/events/webhook-receiver';

// No automatic polls: the test decides when events are sent.
Object.assign(eventLimits, testEventLimits);

const hour = 3600;

describe('the events through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    service = await TestService.start({ ...adminSettings, ...receiver.settings });
    root = await AdminClient.of(service, 'root-admin');
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });
  beforeEach(async () => {
    root = await root.again('root-admin');
    receiver.behaviour = accept;
    for (const table of ['event_outbox', 'event_streams', 'audit_logs']) {
      await service.database.affected(`DELETE FROM ${table}`);
    }
    receiver.seen.splice(0);
  });

  const outbox = () => service.app.get(EventOutbox);
  /** Writes an audit row of alice, with its event. */
  const record = (n: number) =>
    service.app.get(AuditTrail).record(service.database, 'USER_UNLOCKED', { userId: 'alice', detail: { n } });
  const retry = (id: string, by = root) => by.send('POST', `events/${id}/retry`);
  const replay = (from: Date, to: Date, by = root) =>
    by.send('POST', 'events/replay', { from: from.toISOString(), to: to.toISOString() });
  const givenDeadEvent = async (): Promise<string> => {
    await record(1);
    receiver.behaviour = answer(400);
    await outbox().sendDue();
    for (let passed = 0; passed < 74; passed++) {
      service.clock.advanceSeconds(hour);
      await outbox().sendDue();
    }
    receiver.behaviour = accept;
    receiver.seen.splice(0);
    root = await root.again('root-admin');
    const [event] = await root.items('events?status=dead');
    return event.id as string;
  };
  const audits = () =>
    service.database.rows("SELECT event, actor_id, detail FROM audit_logs WHERE event LIKE 'EVENT%' ORDER BY id");

  it('lists the events without payload, the newest first, by status and page by page', async () => {
    const dead = await givenDeadEvent();
    await record(2);
    await outbox().sendDue();
    service.clock.advanceSeconds(1);
    receiver.behaviour = answer(503);
    await record(3);
    const items = (await root.items('events')).filter(({ type }) => type === 'user.unlocked');
    expect(items.map(({ status }) => status as string)).toEqual(['waiting', 'sent', 'dead']);
    expect(items[2]).toEqual({
      id: dead,
      type: 'user.unlocked',
      user_id: 'alice',
      status: 'dead',
      replay_of: null,
      has_payload: true,
      created_at: expect.stringMatching(/Z$/),
      queued_at: null,
      sent_at: null,
    });
    expect((await root.items('events?status=dead')).map(({ id }) => id as string)).toEqual([dead]);
    const all = await root.items('events');
    for (const filter of ['', 'status=sent&']) {
      const found: unknown[] = [];
      for (let after: string | null = ''; after !== null;) {
        const { data }: { data: { items: object[]; next: string | null } } = (
          await root.get(`events?${filter}limit=1${after && `&after=${after}`}`)
        ).body;
        found.push(...data.items);
        after = data.next;
      }
      expect(found).toEqual(filter === '' ? all : all.filter(({ status }) => status === 'sent'));
    }
    expect(JSON.stringify((await root.export('events')).items)).not.toContain('detail');
    expect(outcomeOf(await root.get('events?status=lost'))).toBe('COMMON_400001');
  });

  it('a retry sends an event that was given up with its webhook-id, once, and is audited', async () => {
    const id = await givenDeadEvent();
    const answers = await Promise.all(Array.from({ length: 8 }, () => retry(id)));
    expect(answers.map(outcomeOf).sort()).toEqual([...(Array(7).fill('USER_404001') as string[]), 'success']);
    await outbox().sendDue();
    expect(receiver.accepted.filter((event) => event.id === id)).toHaveLength(1);
    expect(await audits()).toEqual([{ event: 'EVENT_RETRIED', actor_id: root.uid, detail: `{"event":"${id}"}` }]);
    expect((await root.items('events?status=sent')).map((event) => event.id as string)).toContain(id);
  });

  it('a retry of an event that waits, was sent or does not exist is USER_404001', async () => {
    await record(1);
    const [{ id }] = (await root.items('events')) as [{ id: string }];
    expect(outcomeOf(await retry(id))).toBe('USER_404001');
    await outbox().sendDue();
    for (const other of [id, '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab', 'x', "'%20OR%201"]) {
      expect(outcomeOf(await retry(other))).toBe('USER_404001');
    }
    expect(await audits()).toEqual([]);
  });

  it('a retry of an event whose payload was deleted is COMMON_400001', async () => {
    const id = await givenDeadEvent();
    await service.database.affected('UPDATE event_outbox SET payload = NULL WHERE event_id = ?', [id]);
    expect(outcomeOf(await retry(id))).toBe('COMMON_400001');
    expect(await audits()).toEqual([]);
  });

  it('a replay sends the events of a time as new ones, which name the first sending', async () => {
    const from = service.clock.now();
    for (const n of [1, 2, 3]) await record(n);
    await outbox().sendDue();
    const former = receiver.accepted.filter(({ type }) => type === 'user.unlocked');
    expect(former).toHaveLength(3);
    receiver.seen.splice(0);
    service.clock.advanceSeconds(1);
    const to = service.clock.now();
    expect((await replay(from, to)).body.data).toEqual({ queued: 3, skipped: 0 });
    await outbox().sendDue();
    const again = receiver.accepted.filter(({ type }) => type === 'user.unlocked');
    expect(again.map(({ data }) => data.detail.n as number)).toEqual([1, 2, 3]);
    const bodies = again.map(({ body }) => JSON.parse(body) as { replay_of: string });
    expect(bodies.map(({ replay_of }) => replay_of)).toEqual(former.map(({ id }) => id));
    expect(again.map(({ id }) => id)).not.toEqual(former.map(({ id }) => id));
    expect(await audits()).toMatchObject([{ event: 'EVENTS_REPLAYED', actor_id: root.uid }]);
  });

  it.each([
    ['without times', {}],
    ['with a time that is none', { from: '2026-02-30T10:00:00Z', to: '2026-03-02T10:00:00Z' }],
    ['with a day alone', { from: '2026-03-01', to: '2026-03-02' }],
    ['that ends before it begins', { from: '2026-03-02T10:00:00Z', to: '2026-03-02T09:00:00Z' }],
  ])('a replay %s is COMMON_400001', async (_what, body) => {
    expect(outcomeOf(await root.send('POST', 'events/replay', body))).toBe('COMMON_400001');
    expect(await audits()).toEqual([]);
  });

  it('an administrator of another tenant has no events: AUTH_403001', async () => {
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'x', ?)", [new Date()]);
    const id = await givenDeadEvent();
    const acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    for (const answered of [
      await acme.get('events'),
      await retry(id, acme),
      await replay(new Date(0), service.clock.now(), acme),
    ]) {
      expect(outcomeOf(answered)).toBe('AUTH_403001');
    }
    expect((await root.items('events?status=dead')).map((event) => event.id as string)).toEqual([id]);
  });
});
