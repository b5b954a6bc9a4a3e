import { DataSource } from 'typeorm';
import { MailOutbox } from '../../src/mail/mail-outbox';
import { mailStatus } from '../../src/mail/mail-status';
import { mailLimits } from '../../src/mail/mail-limits';
import { Mailer } from '../../src/mail/mailer';
import { OutboxRows } from '../../src/mail/outbox/outbox-mail.repository';
import { MailTemplates } from '../../src/mail/templates/mail-templates';
import { sealSmtpSecret } from '../../src/mail/smtp-secret';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { changeType } from '../../src/shared/change-type';
import { listStatements } from '../support/count-statements';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { FakeClock } from '../support/fakes';
import { MailReplica, shortTimeouts, testLimits } from '../support/mail/mail-replica';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { Smtp } from '../support/servers/smtp';

let store: TestDatabase;
let clock: FakeClock;
let smtp: Smtp;
let replicas: MailReplica[];

/** Clears the tables. It sends nothing. */
let cleaner: MailReplica;
beforeAll(async () => {
  store = await migratedDatabase();
  cleaner = await MailReplica.start(store.url);
});
afterAll(async () => {
  await cleaner.stop();
  await store.drop();
});

beforeEach(async () => {
  clock = new FakeClock();
  smtp = await Smtp.start();
  replicas = [];
});

afterEach(async () => {
  jest.restoreAllMocks();
  for (const replica of replicas) await replica.stop();
  await smtp.stop();
  for (const table of ['mail_outbox', 'system_configs']) await cleaner.database.affected(`DELETE FROM ${table}`);
});

async function replica(options: Parameters<typeof MailReplica.start>[1] = {}): Promise<MailReplica> {
  const settings = { SMTP_URL: smtp.url, MAIL_FROM: 'Portal <no-reply@example.com>', ...options.settings };
  const started = await MailReplica.start(store.url, { clock, ...options, settings });
  replicas.push(started);
  return started;
}

/**
 * A process must stop within this many milliseconds while its mail server hangs. Without the limit, the stop would take
 * as long as the time-outs of `testLimits`.
 */
const boundedStopMs = 20_000;

/** The recipient and the codes. By chance an id or a time has the digits of a code, among others before or behind them. */
const personal = /alice|(?<![\da-f-])(048213|111111)(?![\da-f-])/;

const alice = { userId: 'alice', loginName: 'alice', to: 'alice@example.com' } as const;

const recipients = () => smtp.messages.map((message) => message.to.join()).sort();

/** Advances the clock in steps, and lets the worker look for due mails after each step. */
async function sendOverTime(sender: MailReplica, seconds: number, step = 1): Promise<void> {
  for (let passed = 0; passed < seconds; passed += step) {
    clock.advanceSeconds(step);
    await sender.sendDue();
  }
}

describe('a mail and the transaction that queues it', () => {
  it('the mail is encrypted until it is sent after the commit, and then removed from the table', async () => {
    const sender = await replica();
    await sender.queueOtp();
    const [waiting] = await sender.rows();
    expect(waiting).toMatchObject({ kind: 'otp', status: mailStatus.waiting, attempts: 0 });
    expect(waiting?.payload).toMatch(/^v1\.[\w-]+$/);
    expect(JSON.stringify(waiting)).not.toMatch(personal);

    await sender.sendDue();

    const [received] = smtp.messages;
    expect(received).toMatchObject({ from: 'no-reply@example.com', to: ['alice@example.com'] });
    expect(received?.mail).toMatchObject({
      subject: 'Your verification code',
      messageId: `<${waiting?.id}@example.com>`,
    });
    expect(received?.mail.text).toContain('048213');
    const [sent] = await sender.rows();
    expect(sent).toMatchObject({ status: mailStatus.sent, payload: null, claimed_by: null });
    expect(sent?.sent_at).not.toBeNull();
  });

  it('a rollback removes the mail', async () => {
    const sender = await replica();
    const work = sender.database.transaction(async (tx) => {
      const expires = clock.secondsFromNow(300);
      await sender.get(Mailer).queueOtp(tx, { ...alice, code: '048213', expires, language: 'en' });
      throw new Error('the change failed');
    });
    await expect(work).rejects.toThrow('the change failed');
    await sender.sendDue();
    expect(await sender.rows()).toEqual([]);
    expect(smtp.messages).toEqual([]);
  });

  it('the mail is sent soon after the commit, without waiting for the poll', async () => {
    const sender = await replica({ limits: { nudgeMs: mailLimits.nudgeMs } });
    await sender.queueOtp();
    await smtp.waitFor(1);
  });

  it('the poll sends a mail that another process has queued', async () => {
    await replica({ limits: { pollMs: mailLimits.pollMs } });
    const other = await replica();
    await other.queueOtp();
    await smtp.waitFor(1);
  });
});

describe('each mail is sent once', () => {
  it('two replicas send 200 mails, each exactly once (T248)', async () => {
    const [one, two] = [await replica(), await replica()];
    await one.queueMany(200);
    await Promise.all([one.sendDue(), two.sendDue()]);
    await Promise.all([one.sendDue(), two.sendDue()]);
    expect(smtp.messages).toHaveLength(200);
    expect(new Set(recipients()).size).toBe(200);
    if (__DATABASE__ === 'mariadb') expect(await MariaDbDatabases.shared().deadlocks(store.url)).toEqual([]);
    const rows = await one.rows();
    expect(rows.every((row) => row.status === mailStatus.sent && row.payload === null && row.attempts === 1)).toBe(
      true,
    );
  });

  it('a mail whose sender died is sent by another replica when the lease ends, and not before', async () => {
    const [dead, alive] = [await replica(), await replica()];
    await dead.queueOtp();
    await dead.get(OutboxRows).claim(1);

    await alive.sendDue();
    clock.advanceSeconds(testLimits.leaseMs / 1000 - 1);
    await alive.sendDue();
    expect(smtp.messages).toEqual([]);

    clock.advanceSeconds(1);
    await alive.sendDue();
    expect(smtp.messages).toHaveLength(1);
  });

  it('a replica whose lease has ended cannot change a mail that another replica is sending', async () => {
    const [late, present] = [await replica(), await replica()];
    await late.queueOtp();
    const [former] = await late.get(OutboxRows).claim(1);
    clock.advanceSeconds(testLimits.leaseMs / 1000);
    const [owned] = await present.get(OutboxRows).claim(1);

    expect(await late.get(OutboxRows).settle(former!, mailStatus.dead)).toBe(false);
    expect(await late.get(OutboxRows).giveBack(former!, clock.now(), false)).toBe(false);
    expect(await present.get(OutboxRows).settle(owned!, mailStatus.sent)).toBe(true);
    expect((await present.rows())[0]).toMatchObject({ status: mailStatus.sent, attempts: 2 });
  });

  it('of 16 parallel claims of one mail exactly one succeeds', async () => {
    const [one, two] = [await replica(), await replica()];
    for (let round = 0; round < 5; round++) {
      await one.queueOtp();
      const claims = await Promise.all(
        Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? one : two).get(OutboxRows).claim(1)),
      );
      expect(claims.flat()).toHaveLength(1);
    }
  });

  it('a replica that stops releases its unfinished mails, and another replica sends them at once', async () => {
    const stopping = await replica();
    const other = await replica();
    await stopping.queueMany(10);
    smtp.hang('text');
    const sending = stopping.sendDue();
    // All texts have arrived, so that none of them can be accepted later.
    await eventually(() => smtp.unconfirmed === mailLimits.concurrency, { what: 'all lanes are busy' });

    const started = performance.now();
    await stopping.stop();
    await sending;
    expect(performance.now() - started).toBeLessThan(boundedStopMs);

    smtp.accept();
    await other.sendDue();
    expect(new Set(recipients()).size).toBe(10);
    expect(smtp.messages).toHaveLength(10);
    expect((await other.rows()).map((row) => row.attempts)).toEqual(Array(10).fill(1));
  });
});

describe('while many mails wait', () => {
  /** Whose mails the next claims return. Each claim is that of a replica that can send `wanted` mails at once. */
  async function claimed(sender: MailReplica, claims: number, wanted = 1): Promise<string[]> {
    const owners: string[] = [];
    for (let claim = 0; claim < claims; claim++) {
      for (const { user_id } of await sender.get(OutboxRows).claim(wanted)) {
        owners.push(user_id!.replace(/-\d+$/, ''));
      }
    }
    return owners;
  }

  it('a code, and a link that somebody has just asked for, overtake invitations: a login waits for no bulk', async () => {
    const sender = await replica();
    await sender.queueLinks(changeType.first, 200);
    expect(await claimed(sender, 10)).toEqual(Array(10).fill('invited'));
    clock.advanceSeconds(1);
    await sender.queueOtp({ userId: 'code' });
    clock.advanceSeconds(1);
    await sender.queueLinks(changeType.forgotten);
    expect(await claimed(sender, 3)).toEqual(['code', 'forgetful', 'invited']);
  });

  it('a code that is queued while invitations are sent is the next but one to arrive', async () => {
    const sender = await replica({ limits: { concurrency: 1 } });
    await sender.queueLinks(changeType.first, 60);
    const sending = sender.sendDue();
    await smtp.waitFor(1);
    await sender.queueOtp();
    const arrived = smtp.messages.length;
    await sending;
    await sender.sendDue();
    expect(smtp.messages).toHaveLength(61);
    // One mail may be under way when the code is committed.
    expect(smtp.messages.findIndex(({ to }) => to.includes('alice@example.com'))).toBeLessThanOrEqual(arrived + 1);
  });

  it('a link overtakes invitations while many codes are due, and waits only for the codes before it', async () => {
    const sender = await replica();
    await sender.queueLinks(changeType.first, 100);
    clock.advanceSeconds(1);
    await sender.queueOtp({ userId: 'code' });
    clock.advanceSeconds(1);
    await sender.queueLinks(changeType.forgotten);
    clock.advanceSeconds(1);
    await sender.queueMany(200);
    expect(await claimed(sender, 3)).toEqual(['code', 'forgetful', 'user']);
  });

  it('a code that the mail server refused at first still overtakes them', async () => {
    const sender = await replica({ limits: { concurrency: 1 } });
    await sender.queueOtp();
    smtp.refuse(451);
    await sender.sendDue();
    smtp.accept();
    await sender.queueLinks(changeType.first, 50);
    clock.advanceSeconds(5);
    await sender.sendDue();
    expect(smtp.messages[0]).toMatchObject({ to: ['alice@example.com'] });
    expect(smtp.messages).toHaveLength(51);
  });

  it('after three claims of codes alone, one claim takes what is due longest: a flood of codes does not stop invitations', async () => {
    const sender = await replica();
    await sender.queueLinks(changeType.first, 30);
    clock.advanceSeconds(1);
    await sender.queueMany(200);
    const turn = ['user', 'user', 'user', 'invited'];
    expect(await claimed(sender, 8)).toEqual([...turn, ...turn]);
    expect(await claimed(sender, 4, 4)).toEqual(turn.flatMap((owner) => Array<string>(4).fill(owner)));
  });

  it('claims that leave a place for invitations, or find nothing, do not delay the next code', async () => {
    const sender = await replica();
    expect(await claimed(sender, 3)).toEqual([]);
    await sender.queueLinks(changeType.first, 100);
    for (let round = 0; round < 5; round++) {
      clock.advanceSeconds(1);
      await sender.queueOtp({ userId: 'code' });
      expect(await claimed(sender, 1, 4)).toEqual(['code', 'invited', 'invited', 'invited']);
    }
  });

  it('a claim costs two reads when nothing urgent is due, and one when codes fill it', async () => {
    const sender = await replica();
    const statements = listStatements(sender.get(DataSource));
    const claim = () => statements(() => sender.get(OutboxRows).claim(1));
    expect(await claim()).toEqual(['SELECT', 'SELECT']);
    await sender.queueLinks(changeType.first);
    expect(await claim()).toEqual(['SELECT', 'SELECT', 'UPDATE']);
    await sender.queueOtp();
    expect(await claim()).toEqual(['SELECT', 'UPDATE']);
  });

  it('a mail that a replica of 1.1.0 or 1.0.0 queued is sent as before', async () => {
    const sender = await replica();
    await sender.queueOtp();
    const [row] = await sender.database.rows<{ payload: string }>('SELECT payload FROM mail_outbox');
    await sender.database.affected('DELETE FROM mail_outbox');
    await sender.database.affected(
      `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at)
       VALUES ('of-1.0.0', 'otp', ?, 0, 0, ?, ?, ?)`,
      [row!.payload, clock.now(), clock.secondsFromNow(300), clock.now()],
    );
    await sender.sendDue();
    expect(recipients()).toEqual(['alice@example.com']);
  });
});

describe('a mail server that is down', () => {
  it('for a minute: the mail is sent once, soon after the server is back (T247)', async () => {
    const sender = await replica();
    await smtp.stop();
    await sender.queueOtp();
    await sender.sendDue();
    await sendOverTime(sender, 60);
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.waiting, attempts: 0, claimed_by: null });

    await smtp.restart();
    await sendOverTime(sender, 20);
    expect(smtp.messages).toHaveLength(1);
    await sendOverTime(sender, 240, 10);
    expect(smtp.messages).toHaveLength(1);
  });

  it('is tried at growing intervals', async () => {
    const sender = await replica();
    await sender.queueOtp({ expires: clock.secondsFromNow(3600) });
    smtp.refuse(451);
    const asked = async (seconds: number) => {
      const before = (await sender.rows())[0]!.attempts;
      await sendOverTime(sender, seconds, 0.5);
      return (await sender.rows())[0]!.attempts - before;
    };
    await sender.sendDue();
    const [firstMinute, tenthMinute] = [await asked(60), (await sendOverTime(sender, 480, 5), await asked(60))];
    expect(firstMinute).toBeGreaterThanOrEqual(8);
    expect(tenthMinute).toBeGreaterThanOrEqual(1);
    expect(tenthMinute).toBeLessThanOrEqual(3);
  });

  it('until the code has expired: the mail is never sent (W36, T247)', async () => {
    const sender = await replica();
    await smtp.stop();
    await sender.queueOtp();
    await sendOverTime(sender, 300, 5);
    await smtp.restart();
    await sendOverTime(sender, 60, 5);
    expect(smtp.messages).toEqual([]);
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.expired, payload: null });
  });

  it('by refusing the password: each look for due mails makes few log-ins, however many mails wait', async () => {
    await smtp.stop();
    smtp = await Smtp.start({ account: { user: 'mailer', password: 'right' } });
    const sender = await replica({ settings: { SMTP_URL: smtp.url.replace('//', '//mailer:wrong@') } });
    await sender.queueMany(200);
    await sender.sendDue();
    expect(smtp.connectionCount).toBeLessThanOrEqual(2 * mailLimits.concurrency);
    expect((await sender.rows()).every(({ status, attempts }) => status === mailStatus.waiting && attempts === 0)).toBe(
      true,
    );
  });

  it('although mails that no key of this replica opens wait before the others: the others are sent at once', async () => {
    const sender = await replica();
    await sender.queueMany(3 * mailLimits.concurrency);
    await sender.database.affected("UPDATE mail_outbox SET payload = 'v1.unreadable'");
    clock.advanceSeconds(1);
    await sender.queueOtp();
    await sender.sendDue();
    expect(recipients()).toEqual(['alice@example.com']);
  });

  it('with 1000 waiting mails: few connections, few claims, and a quick shutdown (T246)', async () => {
    const sender = await replica();
    await sender.queueMany(1000);
    smtp.hang('greeting');
    const sending = sender.sendDue();
    await eventually(() => smtp.connectionCount >= mailLimits.concurrency, { what: 'the lanes are busy' });
    const claimed = (await sender.rows()).filter((row) => row.claimed_by !== null);
    expect(claimed.length).toBeLessThanOrEqual(mailLimits.concurrency);

    const started = performance.now();
    await sender.stop();
    await sending;
    expect(performance.now() - started).toBeLessThan(boundedStopMs);
    expect(smtp.connectionCount).toBeLessThanOrEqual(3 * mailLimits.concurrency);
  });
});

describe('a mail that is refused', () => {
  const sealed = expect.stringMatching(/^v1\.[\w-]+$/) as string;

  it('permanently: it is given up, and keeps its encrypted content for a retry', async () => {
    const sender = await replica();
    smtp.refuse(550, 'recipient');
    await sender.queueOtp();
    await sender.sendDue();
    smtp.accept();
    await sendOverTime(sender, 60, 5);
    expect(smtp.messages).toEqual([]);
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.dead, payload: sealed, attempts: 1 });
    expect((await sender.get(MailOutbox).outboxStats()).dead).toBe(1);
  });

  it('temporarily: it is sent when the server accepts it', async () => {
    const sender = await replica();
    smtp.refuse(451);
    await sender.queueOtp();
    await sender.sendDue();
    smtp.accept();
    await sendOverTime(sender, 3);
    expect(smtp.messages).toHaveLength(1);
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.sent, attempts: 2 });
  });

  it('temporarily, more often than the limit: it is given up', async () => {
    const sender = await replica({ limits: { maxAttempts: 3 } });
    smtp.refuse(451);
    await sender.queueOtp();
    await sender.sendDue();
    await sendOverTime(sender, 10);
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.dead, payload: sealed, attempts: 3 });
  });

  it('never, but whose process dies at each attempt to send it: it is given up', async () => {
    const sender = await replica({ limits: { maxAttempts: 2 } });
    await sender.queueOtp({ expires: clock.secondsFromNow(3600) });
    for (let crash = 0; crash < 2; crash++) {
      expect(await sender.get(OutboxRows).claim(1)).toHaveLength(1);
      clock.advanceSeconds(testLimits.leaseMs / 1000);
    }
    await sender.sendDue();
    expect(smtp.messages).toEqual([]);
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.dead });
  });

  it.each([
    ['a bug', () => new TypeError('alice@example.com has no code 048213')],
    ['a wrong call of Node', () => Object.assign(new TypeError('alice'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ])('because of %s: it is given up at once, and one log line has the stack of the fault', async (_what, fault) => {
    const sender = await replica();
    sender.get(MailTemplates).render = () => {
      throw fault();
    };
    await sender.queueOtp();
    await sender.sendDue();
    expect((await sender.rows())[0]).toMatchObject({ status: mailStatus.dead, payload: sealed, attempts: 1 });
    await sendOverTime(sender, 60, 5);
    const told = sender.logLines.filter((line) => line.includes('mail given up'));
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0]!)).toMatchObject({
      kind: 'otp',
      error: 'TypeError',
      stack: expect.stringContaining('mail-outbox.db-spec'),
      msg: expect.stringContaining('fault in this program'),
    });
    expect(sender.logLines.join()).not.toMatch(personal);
  });

  it('because of a bug: the next mail is sent', async () => {
    const sender = await replica();
    const templates = sender.get(MailTemplates);
    const render = templates.render.bind(templates);
    templates.render = (mail, now) => {
      if (mail.to === 'bad@example.com') throw new TypeError('x');
      return render(mail, now);
    };
    await sender.queueOtp({ to: 'bad@example.com' });
    await sender.queueOtp({ to: 'good@example.com' });
    await sender.sendDue();
    expect(recipients()).toEqual(['good@example.com']);
  });

  it('because the stored address is a list, a group or contains a line break: no server is contacted (W57)', async () => {
    const sender = await replica();
    for (const to of ['a@example.com, b@evil.test', 'x:a@evil.test;', 'a@example.com\r\nBcc: b@evil.test', 'a']) {
      await sender.queueOtp({ to });
    }
    await sender.sendDue();
    expect(smtp.connectionCount).toBe(0);
    expect((await sender.rows()).map((row) => row.status)).toEqual(Array(4).fill(mailStatus.dead));
  });
});

describe('the settings of the root tenant', () => {
  it('take effect without a restart, also when they are written by plain SQL', async () => {
    const other = await Smtp.start();
    const sender = await replica();
    await sender.queueOtp({ to: 'first@example.com' });
    await sender.sendDue();

    await sender.setting('HOST', other.host);
    await sender.setting('PORT', String(other.port));
    await sender.setting('SENDER', 'Portal <tenant@example.com>');
    clock.advanceSeconds(1);
    await sender.queueOtp({ to: 'second@example.com' });
    await sender.sendDue();
    expect(other.messages).toMatchObject([{ from: 'tenant@example.com', to: ['second@example.com'] }]);

    await sender.setting('HOST', undefined);
    clock.advanceSeconds(1);
    await sender.queueOtp({ to: 'third@example.com' });
    await sender.sendDue();
    expect(recipients()).toEqual(['first@example.com', 'third@example.com']);
    expect(other.messages).toHaveLength(1);
    await other.stop();
  });

  it('hold a sealed password, or a plain one', async () => {
    const closed = await Smtp.start({ account: { user: 'service', password: 'mail-server-password' } });
    const sender = await replica();
    await sender.setting('HOST', closed.host);
    await sender.setting('PORT', String(closed.port));
    await sender.setting('USER', 'service');
    for (const secret of ['mail-server-password', sealSmtpSecret(sender.get(KeyRing), 'mail-server-password')]) {
      await sender.setting('SECRET', secret);
      clock.advanceSeconds(1);
      await sender.queueOtp();
      await sender.sendDue();
    }
    expect(closed.messages.map((message) => message.user)).toEqual(['service', 'service']);
    await closed.stop();
  });

  it('that are invalid delay the mail, and it is sent when they are corrected', async () => {
    const sender = await replica();
    await sender.setting('HOST', smtp.host);
    await sender.setting('PORT', 'smtp');
    await sender.queueOtp();
    await sender.sendDue();
    expect(sender.logLines.join()).toContain('SMTP PORT must be from 1 to 65535');
    await sender.setting('PORT', String(smtp.port));
    await sendOverTime(sender, 3);
    expect(smtp.messages).toHaveLength(1);
  });
});

describe('without a mail server', () => {
  it('in production mails are skipped, with a warning and a count (W39)', async () => {
    const sender = await replica({
      settings: {
        NODE_ENV: 'production',
        BCRYPT_COST: '10',
        CAPTCHA_TEST_TOKEN: '',
        SYSTEM_URL: 'https://portal.test',
        SMTP_URL: '',
      },
    });
    for (let mail = 0; mail < 3; mail++) await sender.queueOtp();
    await sender.sendDue();
    expect((await sender.rows()).map(({ status, payload }) => ({ status, payload }))).toEqual(
      Array(3).fill({ status: mailStatus.skipped, payload: null }),
    );
    expect(await sender.get(MailOutbox).outboxStats()).toEqual({
      pending: 0,
      oldestPendingSeconds: 0,
      dead: 0,
      skipped: 3,
    });
    expect(sender.logLines.filter((line) => line.includes('mail skipped'))).toHaveLength(1);
    expect(await sender.emlFiles()).toEqual([]);
  });

  it('outside production each mail is a file, and the log names it without its content', async () => {
    const sender = await replica({ settings: { SMTP_URL: '' } });
    await sender.queueOtp();
    await sender.queueOtp({ code: '111111', language: 'zh-CN' });
    await sender.sendDue();
    const files = await sender.emlFiles();
    expect(files.map((file) => file.name).sort()).toEqual([
      '2026-03-02T10-00-00-000Z-otp-2.eml',
      '2026-03-02T10-00-00-000Z-otp.eml',
    ]);
    expect(files.map((file) => file.text).join()).toContain('048213');
    const announced = sender.logLines.filter((line) => line.includes('mail written to a file'));
    expect(announced).toHaveLength(2);
    expect(announced.join()).toContain('-otp.eml');
    expect(sender.logLines.join()).not.toMatch(personal);
    expect((await sender.rows()).map((row) => row.status)).toEqual([mailStatus.sent, mailStatus.sent]);
  });
});

describe('logs and figures for the operator', () => {
  it('failures are logged without code, link, recipient or password (T245)', async () => {
    const url = smtp.url.replace('smtp://', 'smtp://service:mail-server-password@');
    const sender = await replica({ settings: { SMTP_URL: url }, limits: shortTimeouts });
    const link = 'http://portal.test/reset-password?uid=token-of-the-link&lang=en';
    const failures = [
      () => smtp.refuse(451),
      () => smtp.refuse(550, 'recipient'),
      () => smtp.hang('greeting'),
      () => smtp.hang('text'),
      () => smtp.stop(),
    ];
    for (const fail of failures) {
      await Promise.resolve(fail());
      await sender.queueOtp();
      await sender.database.transaction((tx) =>
        sender.get(Mailer).queueResetLink(tx, {
          ...{ ...alice, link, type: 2, language: 'en' },
          expires: clock.secondsFromNow(1800),
        }),
      );
      clock.advanceSeconds(60);
      await sender.sendDue();
    }
    expect(sender.logLines.length).toBeGreaterThan(failures.length);
    expect(sender.logLines.join()).toContain('example.com');
    expect(sender.logLines.join()).not.toMatch(personal);
    expect(sender.logLines.join()).not.toMatch(/token-of-the-link|mail-server-password/);
  });

  it('an outage is logged once a minute, however many mails it affects', async () => {
    const sender = await replica();
    await smtp.stop();
    await sender.queueMany(20);
    await sender.sendDue();
    const told = () => sender.logLines.filter((line) => line.includes('the mail server cannot be used')).length;
    expect(told()).toBe(1);
    await sendOverTime(sender, 61, 5);
    expect(told()).toBe(2);
  });

  it('the number of waiting mails, and the age of the oldest', async () => {
    const sender = await replica();
    await smtp.stop();
    await sender.queueOtp();
    clock.advanceSeconds(42);
    await sender.queueOtp();
    expect(await sender.get(MailOutbox).outboxStats()).toMatchObject({ pending: 2, oldestPendingSeconds: 42, dead: 0 });
  });

  it('purge removes settled mails in batches, and keeps waiting mails', async () => {
    const sender = await replica();
    await sender.queueMany(5);
    await sender.sendDue();
    await smtp.stop();
    await sender.queueOtp({ expires: clock.secondsFromNow(999_999) });
    clock.advanceSeconds(86_400);
    await sender.queueMany(1);
    const outbox = sender.get(MailOutbox);
    expect([
      await outbox.purgeSettled(clock.secondsFromNow(-3600), 3),
      await outbox.purgeSettled(clock.now(), 3),
    ]).toEqual([3, 2]);
    expect(await outbox.purgeSettled(clock.now(), 3)).toBe(0);
    expect(await sender.rows()).toHaveLength(2);
  });

  it('a link that does not begin with SYSTEM_URL is not queued (W29)', async () => {
    const sender = await replica();
    const work = sender.database.transaction((tx) =>
      sender.get(Mailer).queueResetLink(tx, {
        ...{ ...alice, type: 2, language: 'en', expires: clock.secondsFromNow(1800) },
        link: 'http://portal.test.evil/reset-password?uid=x',
      }),
    );
    await expect(work).rejects.toThrow('SYSTEM_URL');
    expect(await sender.rows()).toEqual([]);
  });
});

it('a second look for due mails while mails are being sent does not send them twice', async () => {
  const sender = await replica();
  await sender.queueMany(12);
  const first = sender.sendDue();
  await eventually(() => smtp.connectionCount > 0, { what: 'the first mail is under way', interval: 1 });
  await Promise.all([first, sender.sendDue(), sender.sendDue()]);
  expect(smtp.messages).toHaveLength(12);
});
