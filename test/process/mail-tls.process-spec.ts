import '../support/servers/slow-tests';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mailStatus } from '../../src/mail/mail-status';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { FakeClock } from '../support/fakes';
import { MailReplica } from '../support/mail/mail-replica';
import { startOutboxProcess } from '../support/mail/outbox-process';
import { CertificateAuthority } from '../support/servers/certificates';
import type { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';

/** `NODE_EXTRA_CA_CERTS` adds the certificate authority of the operator. Node reads it when a process starts. */
describe.each(['starttls', 'tls'] as const)('a mail server with %s', (security) => {
  let directory: string;
  let authority: CertificateAuthority;
  let store: TestDatabase;
  let observer: MailReplica;
  let smtp: Smtp;
  let sender: ServiceProcess;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mail-tls-'));
    authority = await CertificateAuthority.create(directory);
    store = await migratedDatabase();
    observer = await MailReplica.start(store.url, { clock: new FakeClock(new Date()) });
    await observer.queueOtp();
  });

  afterEach(async () => {
    await sender.stop();
    await smtp.stop();
    await observer.stop();
    await store.drop();
    await rm(directory, { recursive: true, force: true });
  });

  async function given(names?: string[]): Promise<void> {
    smtp = await Smtp.start({ security, certificate: await authority.issue(names) });
    sender = await startOutboxProcess(store.url, {
      SMTP_URL: `${smtp.url}?tls=${security}`,
      NODE_EXTRA_CA_CERTS: authority.caFile,
    });
  }

  it('and a certificate of the trusted authority gets the mail, encrypted', async () => {
    await given();
    expect(await smtp.waitFor(1)).toMatchObject([{ secure: true, to: ['alice@example.com'] }]);
  });

  it('and a certificate for another name gets no mail', async () => {
    await given(['other.example.test']);
    await sender.line(/the mail server cannot be used.*/);
    expect(sender.lines.join()).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(smtp.messages).toEqual([]);
    expect((await observer.rows())[0]).toMatchObject({ status: mailStatus.waiting });
  });
});
