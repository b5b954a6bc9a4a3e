import '../support/servers/slow-tests';
import { mailLimits } from '../../src/mail/mail-limits';
import { mailStatus } from '../../src/mail/mail-status';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { FakeClock } from '../support/fakes';
import { MailReplica } from '../support/mail/mail-replica';
import { startOutboxProcess } from '../support/mail/outbox-process';
import { eventually } from '../support/servers/eventually';
import type { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';

const mails = 500;

describe('replicas as processes', () => {
  let store: TestDatabase;
  let smtp: Smtp;
  /** Queues mails and reads the outbox. It sends nothing. */
  let observer: MailReplica;
  let processes: ServiceProcess[];

  beforeEach(async () => {
    store = await migratedDatabase();
    smtp = await Smtp.start();
    observer = await MailReplica.start(store.url, { clock: new FakeClock(new Date()) });
    processes = [];
  });

  afterEach(async () => {
    for (const process of processes) await process.stop();
    await observer.stop();
    await smtp.stop();
    await store.drop();
  });

  async function replica(name: string, limits = {}): Promise<ServiceProcess> {
    const settings = { SMTP_URL: smtp.url, MAIL_FROM: `${name}@example.com` };
    const started = await startOutboxProcess(store.url, settings, limits);
    processes.push(started);
    return started;
  }

  const sentBy = (name: string) => smtp.messages.filter((message) => message.from === `${name}@example.com`);
  const rowOf = (messageId = '') => messageId.replace(/^<|@.*$/g, '');

  it('when one of two replicas is killed all 500 mails arrive, and only mails in flight at the kill arrive twice', async () => {
    // The lease is short: the mails of the killed replica are free after 12 s, not after a minute. `sendMs` is long
    // enough that no mail reaches this limit.
    const limits = { leaseMs: 12_000, sendMs: 10_000, pollMs: 200 };
    const [victim] = [await replica('victim', limits), await replica('survivor', limits)];
    await observer.queueMany(mails);

    // Few mails: on a busy machine one of them may begin much later than the other.
    await eventually(() => sentBy('victim').length >= 10 && sentBy('survivor').length >= 10, {
      what: 'both are sending',
      interval: 1,
    });
    await victim.kill();
    expect(smtp.messages.length).toBeLessThan(mails);
    const inFlight = (await observer.rows()).filter(
      (row) => row.status === mailStatus.waiting && row.claimed_by !== null,
    );
    const lastOfVictim = sentBy('victim').length;

    await eventually(async () => (await observer.rows()).every((row) => row.status === mailStatus.sent), {
      what: 'every mail is sent',
      interval: 100,
      timeout: 120_000,
    });
    expect(new Set(smtp.messages.map((message) => message.to.join())).size).toBe(mails);
    expect(sentBy('victim')).toHaveLength(lastOfVictim);

    const ids = smtp.messages.map((message) => rowOf(message.mail.messageId));
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
    expect(twice.length).toBeLessThanOrEqual(mailLimits.concurrency);
    expect(inFlight.map((row) => row.id)).toEqual(expect.arrayContaining(twice));
  });

  it('SIGTERM while the mail server hangs: the process ends in time, and another replica sends the mails at once (T246)', async () => {
    smtp.hang('text');
    const stopping = await replica('stopping');
    await observer.queueMany(20);
    await eventually(() => smtp.connectionCount >= mailLimits.concurrency, { what: 'all lanes are busy' });
    const started = performance.now();
    const { code } = await stopping.stop();
    expect(code).toBe(0);
    // Without the limit of 4 s for the stop, the process would wait 30 s for the mail server.
    expect(performance.now() - started).toBeLessThan(25_000);

    smtp.accept();
    await replica('other');
    await smtp.waitFor(20);
    expect(new Set(smtp.messages.map((message) => message.to.join())).size).toBe(20);
  });
});
