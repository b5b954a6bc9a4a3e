import { mailLimits } from '../../src/mail/mail-limits';
import { mailStatus } from '../../src/mail/mail-status';
import { MailOutbox } from '../../src/mail/mail-outbox';
import { Mailer } from '../../src/mail/mailer';
import { OutboxRows } from '../../src/mail/outbox/outbox-mail.repository';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { Smtp } from '../support/servers/smtp';

// No automatic polls: the test decides when mails are sent. A mail server on a busy machine may answer late.
Object.assign(mailLimits, { pollMs: 3_600_000, nudgeMs: 3_600_000, connectMs: 40_000, greetingMs: 40_000 });

describe('the mails through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let smtp: Smtp;

  beforeAll(async () => {
    smtp = await Smtp.start();
    service = await TestService.start({ ...adminSettings, SMTP_URL: smtp.url });
    root = await AdminClient.of(service, 'root-admin');
  });
  afterAll(async () => {
    await service.stop();
    await smtp.stop();
  });
  beforeEach(async () => {
    await service.database.affected('DELETE FROM mail_outbox');
    await service.database.affected('DELETE FROM audit_logs');
    root = await root.again('root-admin');
    smtp.accept();
    smtp.messages.splice(0);
  });

  const outbox = () => service.app.get(MailOutbox);
  const givenMail = (seconds = 3600) =>
    service.database.transaction((tx) =>
      service.app.get(Mailer).queueOtp(tx, {
        userId: 'alice',
        loginName: 'alice',
        to: 'alice@example.com',
        code: '048213',
        language: 'en',
        expires: service.clock.secondsFromNow(seconds),
      }),
    );
  const givenDeadMail = async (seconds?: number): Promise<string> => {
    await givenMail(seconds);
    smtp.refuse(550);
    await outbox().sendDue();
    smtp.accept();
    return (await root.items('mails?status=dead&limit=1'))[0].id as string;
  };
  const retry = (id: string, by = root) => by.send('POST', `mails/${id}/retry`);
  const row = (id: string) =>
    service.database.row<Record<string, unknown>>('SELECT * FROM mail_outbox WHERE id = ?', [id]);

  it('lists the mails without content and recipient, the newest first, by status and page by page', async () => {
    const dead = await givenDeadMail();
    service.clock.advanceSeconds(1);
    await givenMail();
    await outbox().sendDue();
    service.clock.advanceSeconds(1);
    await givenMail();
    await givenMail();
    const items = await root.items('mails');
    expect(items.map(({ status }) => status as string)).toEqual(['waiting', 'waiting', 'sent', 'dead']);
    expect(items[3]).toEqual({
      id: dead,
      kind: 'otp',
      status: 'dead',
      attempts: 1,
      created_at: expect.stringMatching(/Z$/),
      next_attempt_at: items[3].created_at,
      expires: expect.stringMatching(/Z$/),
    });
    expect((await root.items('mails?status=sent')).map(({ id }) => id as string)).toEqual([items[2].id]);
    const found: unknown[] = [];
    for (let after: string | null = ''; after !== null;) {
      const { data }: { data: { items: object[]; next: string | null } } = (
        await root.get(`mails?limit=1${after && `&after=${after}`}`)
      ).body;
      found.push(...data.items);
      after = data.next;
    }
    expect(found).toEqual(items);
    const exported = await root.export('mails');
    expect(exported.items).toEqual(items);
    // By chance the digits of the code are a part of an id.
    expect(JSON.stringify(exported)).not.toMatch(/alice|(?<![\da-f-])048213(?![\da-f-])|v1\./);
    expect(outcomeOf(await root.get('mails?status=lost'))).toBe('COMMON_400001');
  });

  it('a retry sends a mail that was given up, as a new one, and is audited', async () => {
    const id = await givenDeadMail();
    expect(smtp.messages).toEqual([]);
    expect((await retry(id)).body.data).toEqual({ result: true });
    expect(await row(id)).toMatchObject({ status: mailStatus.waiting, attempts: 0, claimed_by: null });
    expect(await service.database.rows('SELECT event, actor_id, user_id, detail FROM audit_logs')).toEqual([
      { event: 'MAIL_RETRIED', actor_id: root.uid, user_id: null, detail: `{"mail":"${id}"}` },
    ]);
    await outbox().sendDue();
    expect(smtp.messages).toMatchObject([{ to: ['alice@example.com'] }]);
    expect(await row(id)).toMatchObject({ status: mailStatus.sent, payload: null });
  });

  it('a mail that waits, was sent or does not exist is USER_404001', async () => {
    await givenMail();
    const { id } = (await root.items('mails'))[0];
    expect(outcomeOf(await retry(id as string))).toBe('USER_404001');
    await outbox().sendDue();
    expect(outcomeOf(await retry(id as string))).toBe('USER_404001');
    for (const unknown of ['6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab', 'x', `${id}%20`, "'%20OR%201"]) {
      expect(outcomeOf(await retry(unknown))).toBe('USER_404001');
    }
    expect(await service.count('audit_logs')).toBe(0);
  });

  it('a mail that has expired is COMMON_400001, and purge deletes its content', async () => {
    const id = await givenDeadMail(60);
    expect((await row(id))?.payload).not.toBeNull();
    service.clock.advanceSeconds(60);
    expect(outcomeOf(await retry(id))).toBe('COMMON_400001');
    expect(await outbox().forgetExpired(1000)).toBe(1);
    expect(await row(id)).toMatchObject({ status: mailStatus.dead, payload: null });
    expect(outcomeOf(await retry(id))).toBe('COMMON_400001');
    expect(await service.count('audit_logs')).toBe(0);
  });

  it('a mail that an earlier version gave up has no content any more: COMMON_400001', async () => {
    const id = await givenDeadMail();
    await service.database.affected('UPDATE mail_outbox SET payload = NULL');
    expect(outcomeOf(await retry(id))).toBe('COMMON_400001');
  });

  it('of parallel retries exactly one succeeds, and the mail is sent once', async () => {
    const other = await TestService.start(
      { ...adminSettings, SMTP_URL: smtp.url },
      { clock: service.clock, store: service.store },
    );
    // The strategies of passport belong to the service that was started last, which is as good as the other one.
    const racers = [root, await AdminClient.of(other, 'second-admin')];
    try {
      for (let round = 0; round < 3; round++) {
        const id = await givenDeadMail();
        const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => retry(id, racers[n % 2])));
        expect(answers.map(outcomeOf).sort()).toEqual([...(Array(7).fill('USER_404001') as string[]), 'success']);
        await Promise.all([outbox().sendDue(), other.app.get(MailOutbox).sendDue()]);
        expect(smtp.messages.splice(0)).toHaveLength(1);
      }
      expect(await service.count('audit_logs', "event = 'MAIL_RETRIED'")).toBe(3);
    } finally {
      await other.stop({ keepStore: true });
    }
  });

  it('a worker whose lease has ended cannot settle a mail that was retried', async () => {
    await givenMail();
    const rows = service.app.get(OutboxRows);
    const [late] = await rows.claim(1);
    service.clock.advanceSeconds(120);
    const [owner] = await rows.claim(1);
    expect(await rows.settle(owner!, mailStatus.dead)).toBe(true);
    expect(outcomeOf(await retry(owner!.id))).toBe('success');
    expect(await rows.settle(late!, mailStatus.sent)).toBe(false);
    expect(await rows.settle(owner!, mailStatus.expired)).toBe(false);
    expect(await row(owner!.id)).toMatchObject({ status: mailStatus.waiting, attempts: 0 });
  });

  it('purge deletes no mail that waits after a retry', async () => {
    const id = await givenDeadMail(40 * 86_400);
    const database = service.database;
    const rows = database.rows.bind(database);
    const spy = jest.spyOn(database, 'rows').mockImplementation(async (statement, values) => {
      const found = await rows(statement, values);
      if (/^SELECT id FROM mail_outbox WHERE created_at/.test(statement)) {
        spy.mockRestore();
        expect(outcomeOf(await retry(id))).toBe('success');
      }
      return found;
    });
    expect(await outbox().purgeSettled(service.clock.secondsFromNow(1), 1000)).toBe(0);
    expect(await row(id)).toMatchObject({ status: mailStatus.waiting });
  });

  it('an administrator of another tenant has no mails and no settings: AUTH_403001', async () => {
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'x', ?)", [new Date()]);
    const acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    const id = await givenDeadMail();
    for (const answer of [
      await acme.get('mails'),
      await retry(id, acme),
      await acme.get('config'),
      await acme.send('PUT', 'config/SMTP/HOST', { value: 'evil.example.com' }),
      await acme.send('DELETE', 'config/SMTP/HOST'),
      await acme.send('POST', 'config/smtp-test', { to: 'a@example.com' }),
    ]) {
      expect(outcomeOf(answer)).toBe('AUTH_403001');
    }
    expect(await row(id)).toMatchObject({ status: mailStatus.dead });
  });
});
