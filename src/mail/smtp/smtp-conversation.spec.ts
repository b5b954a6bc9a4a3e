import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../../test/support/servers/eventually';
import { freePort } from '../../../test/support/servers/free-port';
import { CertificateAuthority } from '../../../test/support/servers/certificates';
import { Smtp, type SmtpOptions } from '../../../test/support/servers/smtp';
import { MailReplica, shortTimeouts } from '../../../test/support/mail/mail-replica';
import { Database } from '../../platform/database/database';
import type { QueuedMail } from '../outbox/mail-payload';
import { SmtpCheck } from '../smtp-check';
import { MailDelivery } from './mail-delivery';
import { failureKind } from './smtp-failure';

const mail: QueuedMail = {
  ...{ kind: 'otp', to: 'alice@example.com', code: '048213', language: 'en' },
  expires: new Date('2026-03-02T10:05:00Z'),
};

/** Runs the real client against a real server. The database only holds the settings. */
describe('the SMTP conversation', () => {
  let directory: string;
  let unknownAuthority: CertificateAuthority;
  let server: Smtp | undefined;
  let replica: MailReplica;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mail-smtp-'));
    unknownAuthority = await CertificateAuthority.create(directory);
  });

  afterEach(async () => {
    await replica.stop();
    await server?.stop();
    server = undefined;
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function connect(url: string, limits = {}, more = {}): Promise<void> {
    const database = `sqlite:${join(directory, `${String(performance.now())}.sqlite`)}`;
    replica = await MailReplica.start(database, { settings: { SMTP_URL: url, ...more }, limits });
  }

  async function given(options: SmtpOptions, adapt = (url: string) => url, limits = {}): Promise<Smtp> {
    server = await Smtp.start(options);
    await connect(adapt(server.url), limits);
    return server;
  }

  const deliver = (milliseconds = 60_000) =>
    replica.get(MailDelivery).deliver('a-row', mail, AbortSignal.timeout(milliseconds));
  const check = () => replica.get(SmtpCheck).checkSmtp();

  async function failure(): Promise<{ kind: string; code: unknown }> {
    const error: unknown = await deliver().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return {
      kind: failureKind(error ?? {}),
      code: (error as { code: unknown }).code,
    };
  }

  it('sends a mail in plain text, with the headers of this service and one recipient', async () => {
    const { messages } = await given({});
    expect(await check()).toEqual({ status: 'ok', text: expect.stringContaining('(opportunistic) answers') });
    expect(await deliver()).toBe('sent');
    expect(messages).toMatchObject([{ to: ['alice@example.com'], secure: false }]);
    expect(messages[0]?.raw).toContain('Auto-Submitted: auto-generated');
    expect(messages[0]?.raw).toContain('Message-ID: <a-row@localhost>');
  });

  it('writes only ASCII into the headers when the domain of the sender has other letters', async () => {
    server = await Smtp.start({});
    await connect(server.url, {}, { MAIL_FROM: 'Größe <no-reply@münchen.example>' });
    expect(await deliver()).toBe('sent');
    const [headers = ''] = server.messages[0]!.raw.split('\r\n\r\n');
    expect(headers).toContain('Message-ID: <a-row@xn--mnchen-3ya.example>');
    expect(headers).toMatch(/^[\x00-\x7f]+$/);
  });

  it('logs in with the user name and the password of SMTP_URL', async () => {
    const { messages } = await given({ account: { user: 'us@er', password: 'p:ss' } }, (url) =>
      url.replace('//', '//us%40er:p%3Ass@'),
    );
    await deliver();
    expect(messages).toMatchObject([{ user: 'us@er' }]);
  });

  it('treats a wrong password as a server failure, and reveals neither password nor user name', async () => {
    await given({ account: { user: 'service', password: 'right' } }, (url) => url.replace('//', '//service:wrong@'));
    expect(await failure()).toMatchObject({ kind: 'server', code: 'EAUTH' });
    const { status, text } = await check();
    expect({ status, text }).toEqual({ status: 'problem', text: expect.stringMatching(/EAUTH 535$/) });
    expect(text).not.toMatch(/service|wrong|Authentication/);
  });

  it.each(['opportunistic', 'starttls', 'tls'] as const)(
    '%s: refuses a certificate of an unknown authority',
    async (tls) => {
      const security = tls === 'tls' ? 'tls' : 'starttls';
      const { messages } = await given({ security, certificate: await unknownAuthority.issue() }, (url) =>
        tls === 'opportunistic' ? url : `${url}?tls=${tls}`,
      );
      expect(await failure()).toMatchObject({ kind: 'server', code: 'ESOCKET' });
      expect(await check()).toMatchObject({ status: 'problem', text: expect.stringContaining('UNABLE_TO_VERIFY') });
      expect(messages).toEqual([]);
    },
  );

  it('starttls: sends nothing to a server that does not offer STARTTLS', async () => {
    const { messages } = await given({}, (url) => `${url}?tls=starttls`);
    expect(await failure()).toMatchObject({ kind: 'server' });
    expect(messages).toEqual([]);
  });

  it('none: does not use STARTTLS even when the server offers it', async () => {
    await given({ security: 'starttls', certificate: await unknownAuthority.issue() }, (url) => `${url}?tls=none`);
    // The server requires TLS and answers 530 to MAIL FROM. This shows that the client did not use TLS.
    expect(await failure()).toMatchObject({ kind: 'server', code: 'EENVELOPE' });
  });

  it('distinguishes temporary and permanent refusals, and keeps the connection', async () => {
    const smtp = await given({});
    smtp.refuse(451);
    expect(await failure()).toMatchObject({ kind: 'later' });
    smtp.refuse(450, 'recipient');
    expect(await failure()).toMatchObject({ kind: 'later' });
    smtp.refuse(550, 'recipient');
    expect(await failure()).toMatchObject({ kind: 'refused' });
    smtp.refuse(554);
    expect(await failure()).toMatchObject({ kind: 'refused' });
    smtp.accept();
    await deliver();
    expect(smtp.messages).toHaveLength(1);
    // A second connection is opened when a mail is sent while RSET still runs after a refusal. One for each mail would
    // be wrong.
    expect(smtp.connectionCount).toBeLessThanOrEqual(2);
  });

  it.each(['greeting', 'text'] as const)(
    'gives up after the time-out when the server is silent at the %s (T246)',
    async (at) => {
      const smtp = await given({}, undefined, shortTimeouts);
      smtp.hang(at);
      // ETIMEDOUT is the time-out of the conversation. The time limit of the mail would give EABORT.
      expect(await failure()).toEqual({ kind: 'server', code: 'ETIMEDOUT' });
      if (at === 'greeting')
        expect(await check()).toMatchObject({ status: 'problem', text: expect.stringContaining('ETIMEDOUT') });
    },
  );

  it('reports a refused connection as a failure of the server', async () => {
    await connect(`smtp://127.0.0.1:${await freePort()}`);
    expect(await failure()).toMatchObject({ kind: 'server', code: 'ESOCKET' });
    expect((await check()).text).toMatch(/ESOCKET ECONNREFUSED$/);
  });

  it('tells doctor that mails are skipped when no server is configured', async () => {
    await connect('');
    expect(await check()).toMatchObject({ status: 'skipped' });
  });

  it('names the key of an invalid setting', async () => {
    await connect('smtp://mail.example.com');
    await replica
      .get(Database)
      .affected(
        "INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES ('root', 'SMTP', 'HOST', 'mail'), ('root', 'SMTP', 'TLS', 'perhaps')",
      );
    expect(await check()).toEqual({ status: 'problem', text: 'SMTP TLS must be none, starttls or tls' });
  });

  describe('with a server whose answer to EHLO never ends', () => {
    let trickling: Server;
    const sockets = new Set<Socket>();

    afterEach(() => {
      sockets.forEach((socket) => socket.destroy());
      trickling.close();
    });

    it('cuts the connection after the time limit of the mail, although the server is never silent', async () => {
      trickling = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => undefined).write('220 mail.example.test\r\n');
        socket.once('data', () => {
          const drip = setInterval(() => socket.write('250-and so on\r\n'), 50);
          socket.once('close', () => clearInterval(drip));
        });
      }).listen(0, '127.0.0.1');
      await once(trickling, 'listening');
      await connect(`smtp://127.0.0.1:${(trickling.address() as AddressInfo).port}`);
      await expect(deliver(800)).rejects.toMatchObject({ code: 'EABORT' });
      await eventually(() => [...sockets].every(({ destroyed }) => destroyed), { what: 'the connection is closed' });
    });
  });
});
