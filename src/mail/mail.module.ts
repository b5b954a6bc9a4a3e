import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailerModule } from '@nestjs-modules/mailer';
import { MailBrands } from './mail-brands';
import { MailLimits, mailLimits } from './mail-limits';
import { MailOutbox } from './mail-outbox';
import { Mailer } from './mailer';
import { MailAttempt } from './outbox/mail-attempt';
import { MailWorker } from './outbox/mail-worker';
import { OutboxMail } from './outbox/outbox-mail.entity';
import { OutboxRows } from './outbox/outbox-mail.repository';
import { QueuedMails } from './queued-mails';
import { SmtpCheck } from './smtp-check';
import { SmtpTest } from './smtp-test';
import { EmlFolder } from './smtp/eml-folder';
import { fileTransporter, MailDelivery } from './smtp/mail-delivery';
import { SmtpConfiguration } from './smtp/smtp-configuration';
import { noForeignContent } from './smtp/smtp-options';
import { SmtpTransports } from './smtp/smtp-transports';
import { htmlTemplates, MailTemplates } from './templates/mail-templates';

const doors = [Mailer, MailBrands, MailOutbox, QueuedMails, SmtpCheck, SmtpTest];

/** Sends mails from an outbox table, with a worker in every replica. ADR 0007 says when a mail can be sent twice. */
@Module({
  imports: [
    TypeOrmModule.forFeature([OutboxMail]),
    MailerModule.forRoot({
      // SmtpTransports adds and removes mail servers when the settings change.
      transports: {
        [fileTransporter]: { streamTransport: true, buffer: true, newline: 'windows', ...noForeignContent },
      },
      template: htmlTemplates,
    }),
  ],
  providers: [
    { provide: MailLimits, useValue: mailLimits },
    ...[OutboxRows, MailWorker, MailAttempt, MailTemplates],
    ...[MailDelivery, EmlFolder, SmtpConfiguration, SmtpTransports],
    ...doors,
  ],
  exports: doors,
})
export class MailModule {}
