import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createTransport } from 'nodemailer';

import { CertificateAuthority } from '../support/servers/certificates';
import { eventually } from '../support/servers/eventually';
import { Smtp, type SmtpOptions } from '../support/servers/smtp';
import { staysSilent } from './silence';

const LETTER = { from: 'service@example.test', to: 'álice@example.test', subject: 'Łódź', text: 'Your code is 123456' };

describe('Smtp', () => {
  let directory: string;
  let authority: CertificateAuthority;
  let server: Smtp;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'smtp-'));
    authority = await CertificateAuthority.create(directory);
  });

  afterEach(() => server.stop());

  afterAll(() => rm(directory, { recursive: true }));

  async function start(options: SmtpOptions = {}): Promise<void> {
    server = await Smtp.start(options);
  }

  async function send(options: object = {}): Promise<unknown> {
    const { host, port } = server;
    const transport = createTransport({ host, port, connectionTimeout: 30_000, ...options });
    return transport.sendMail({ ...LETTER, to: 'alice@example.test' });
  }

  it('keeps each mail with its parsed content and its envelope', async () => {
    await start();
    await send();
    const [received] = await server.waitFor(1);
    expect(received).toMatchObject({ from: LETTER.from, to: ['alice@example.test'], secure: false });
    expect(received?.mail).toMatchObject({ subject: LETTER.subject, text: `${LETTER.text}\n` });
    expect(received?.raw).toContain('Message-ID:');
  });

  it('waits for mails that have not arrived yet, until the time-out', async () => {
    await start();
    const both = server.waitFor(2);
    await send();
    await send();
    expect(await both).toHaveLength(2);
    await expect(server.waitFor(3, 50)).rejects.toThrow('3 messages');
  });

  it('with security `starttls`, accepts mails over STARTTLS only', async () => {
    await start({ security: 'starttls', certificate: await authority.issue() });
    await expect(send({ ignoreTLS: true })).rejects.toMatchObject({ responseCode: 530 });
    await expect(send()).rejects.toThrow('unable to verify');
    await send({ requireTLS: true, tls: { ca: authority.ca } });
    expect(server.messages).toMatchObject([{ secure: true }]);
  });

  it('offers implicit TLS, also with a certificate of a wrong name', async () => {
    await start({ security: 'tls', certificate: await authority.issue() });
    await send({ secure: true, tls: { ca: authority.ca } });
    expect(server.messages).toMatchObject([{ secure: true }]);
    await server.stop();
    await start({ security: 'tls', certificate: await authority.issue(['other.example.test']) });
    await expect(send({ secure: true, tls: { ca: authority.ca } })).rejects.toThrow('does not match');
  });

  it('with an account, refuses mails without a login', async () => {
    await start({ account: { user: 'service', password: 'right' } });
    await expect(send()).rejects.toMatchObject({ responseCode: 530 });
    await expect(send({ auth: { user: 'service', pass: 'wrong' } })).rejects.toMatchObject({ responseCode: 535 });
    await send({ auth: { user: 'service', pass: 'right' } });
    expect(server.messages).toMatchObject([{ user: 'service' }]);
  });

  it('refuses mails temporarily (4xx) or permanently (5xx) until `accept`', async () => {
    await start();
    server.refuse(451);
    await expect(send()).rejects.toMatchObject({ responseCode: 451 });
    server.refuse(550, 'recipient');
    await expect(send()).rejects.toMatchObject({ responseCode: 550, command: 'RCPT TO' });
    expect(server.messages).toEqual([]);
    server.accept();
    await send();
    expect(server.messages).toHaveLength(1);
  });

  it('sends nothing while it hangs, and closes the connections when stopped', async () => {
    for (const at of ['greeting', 'text'] as const) {
      await start();
      server.hang(at);
      const sending = send({ greetingTimeout: 60_000 });
      await eventually(() => server.connectionCount === 1, { what: 'the connection' });
      expect(await staysSilent(sending)).toBe(true);
      await server.stop();
      await expect(sending).rejects.toThrow();
    }
  });

  it('has ended after stop, and restarts on the same port with the mails that it had', async () => {
    await start();
    await send();
    await server.stop();
    await expect(send()).rejects.toMatchObject({ code: 'ESOCKET' });
    await server.restart();
    await send();
    expect(server.messages).toHaveLength(2);
  });
});
