import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MailDelivery } from '../../src/mail/smtp/mail-delivery';
import { describeFailure, failureKind } from '../../src/mail/smtp/smtp-failure';
import { SmtpTest } from '../../src/mail/smtp-test';
import type { QueuedMail } from '../../src/mail/outbox/mail-payload';
import { heapMb } from '../support/heap';
import { HostileSmtp } from '../support/mail/hostile-smtp';
import { MailReplica } from '../support/mail/mail-replica';
import { SeededNumbers } from '../support/seeded-numbers';
import { eventually } from '../support/servers/eventually';

jest.setTimeout(600_000);

const seed = Number(process.env.SMTP_FUZZ_SEED ?? 22);
const conversations = 2000;
const clients = 16;
/** Longest silence of the server, and longest conversation. */
const limits = { greetingMs: 300, socketMs: 300, sendMs: 3000, testMs: 3000, concurrency: clients };
/** Without a time limit, a conversation whose reply does not end would last for ever. */
const generousMs = 120_000;
const quoted = 'said-by-the-server';

const mail: QueuedMail = {
  ...{ kind: 'otp', to: 'alice@example.com', code: '048213', language: 'en' },
  expires: new Date('2026-03-02T10:05:00Z'),
};

describe(`mutated replies of a mail server (seed ${seed})`, () => {
  let directory: string;
  let server: HostileSmtp;
  let replica: MailReplica;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'hostile-smtp-'));
    server = await HostileSmtp.start(new SeededNumbers(seed), quoted);
    const settings = { SMTP_URL: server.url };
    replica = await MailReplica.start(`sqlite:${join(directory, 'mail.sqlite')}`, { settings, limits });
    // The replica connects to its database.
    await eventually(isSent, { what: 'a mail is sent' });
  });
  afterAll(async () => {
    await replica?.stop();
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const deliver = () => replica.get(MailDelivery).deliver('a-row', mail, AbortSignal.timeout(limits.sendMs));
  const isSent = async () => (await deliver()) === 'sent';

  it(`${conversations} mails: each is sent, refused or tried again, and the log quotes no reply`, async () => {
    server.isHonest = false;
    const before = heapMb();
    const outcomes: Record<string, number> = {};
    let [begun, longestMs] = [0, 0];
    const client = async () => {
      while (begun++ < conversations) {
        const started = performance.now();
        const kind = await deliver().catch((error: unknown) => {
          expect(JSON.stringify(describeFailure(error))).not.toContain(quoted);
          return failureKind(error);
        });
        longestMs = Math.max(longestMs, performance.now() - started);
        outcomes[kind] = (outcomes[kind] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    // A fault would be a bug of this program, and the mail would be lost.
    expect(Object.keys(outcomes).sort()).toEqual(['later', 'refused', 'sent', 'server']);
    expect(server.received).toBeGreaterThanOrEqual(outcomes.sent!);
    expect(longestMs).toBeLessThan(generousMs);
    expect(heapMb() - before).toBeLessThan(60);
    server.isHonest = true;
    await eventually(isSent, { what: 'a mail is sent by a server that works again' });
  });

  it('300 test mails of an administrator: each result is one short line', async () => {
    server.isHonest = false;
    let begun = 0;
    const client = async () => {
      while (begun++ < 300) {
        const result = await replica.get(SmtpTest).send('alice@example.com', 'en');
        if (!result.sent) expect(result.reply).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]{1,600}$/u);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  });
});
