import { domainToASCII } from 'node:url';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { type ISendMailOptions, MailerService } from '@nestjs-modules/mailer';
import { ServiceSettings } from '../../platform/config/service-settings';
import { MailSettings } from '../mail-settings';
import type { SmtpSettings } from '../smtp-settings';
import { Tracing } from '../../platform/tracing/tracing';
import { Clock } from '../../shared/clock';
import { isPlainAddress, mailboxOf } from '../../shared/mail-address';
import { MailBrands } from '../mail-brands';
import type { QueuedMail } from '../outbox/mail-payload';
import { MailTemplates, type RenderedMail } from '../templates/mail-templates';
import { EmlFolder } from './eml-folder';
import { SmtpConfiguration } from './smtp-configuration';
import { AddressRefused } from './smtp-failure';
import { SmtpTransports } from './smtp-transports';

/** The name of the transporter that renders a mail for a file. SmtpTransports names the others. */
export const fileTransporter = 'file';

type Message = ISendMailOptions & { readonly signal?: AbortSignal };

/** Sends one mail to one address: by SMTP, as a file, or not at all, as the current settings say (ADR 0007). */
@Injectable()
export class MailDelivery {
  private readonly logger = new Logger('mail');

  constructor(
    private readonly configuration: SmtpConfiguration,
    private readonly transports: SmtpTransports,
    private readonly mailer: MailerService,
    private readonly templates: MailTemplates,
    private readonly brands: MailBrands,
    private readonly files: EmlFolder,
    private readonly service: ServiceSettings,
    private readonly mail: MailSettings,
    private readonly clock: Clock,
    @Optional() @Inject(Tracing) private readonly tracing: Tracing | undefined,
  ) {}

  /**
   * @param id id of the outbox row. It becomes the Message-ID, so that mail programs recognise a second copy.
   * @param signal cuts the connection
   * @param userId whose mail it is: it shows the brand of this user's tenant
   * @throws any error; `failureKind` classifies it
   */
  async deliver(
    id: string,
    mail: QueuedMail,
    signal: AbortSignal,
    userId?: string | null,
  ): Promise<'sent' | 'skipped'> {
    if (!isPlainAddress(mail.to)) throw new AddressRefused();
    const settings = await this.configuration.current();
    signal.throwIfAborted();
    if (settings === undefined) this.transports.leave();
    if (settings === undefined && this.service.production) return 'skipped';
    const rendered = this.templates.render(mail, this.clock.now(), await this.brands.of(userId));
    signal.throwIfAborted();
    return settings === undefined
      ? this.writeFile(id, mail, rendered)
      : this.send(id, mail, rendered, settings, signal);
  }

  private async send(
    id: string,
    mail: QueuedMail,
    rendered: RenderedMail,
    settings: SmtpSettings,
    signal: AbortSignal,
  ): Promise<'sent'> {
    const message = this.message(id, mail, rendered, settings.sender);
    const sending = () =>
      this.transports.use(settings, (transporterName) => {
        const options: Message = { ...message, transporterName, signal };
        return this.mailer.sendMail(options);
      });
    // The span has no parent, because the outbox sends mails of many requests and processes.
    const span = { root: true, attributes: { 'mail.kind': mail.kind } };
    await (this.tracing === undefined ? sending() : this.tracing.span('SMTP send', span, sending));
    return 'sent';
  }

  private async writeFile(id: string, mail: QueuedMail, rendered: RenderedMail): Promise<'sent'> {
    const sender = mailboxOf(this.mail.from) ?? { name: '', address: 'no-reply@localhost' };
    const message = this.message(id, mail, rendered, sender);
    const made = (await this.mailer.sendMail({ ...message, transporterName: fileTransporter })) as { message: Buffer };
    const file = await this.files.write(mail.kind, made.message);
    // The log gets only the path and the subject, because codes and links must not reach a log.
    this.logger.log({ file, subject: message.subject }, 'no mail server is configured: mail written to a file');
    return 'sent';
  }

  private message(
    id: string,
    mail: QueuedMail,
    rendered: RenderedMail,
    from: SmtpSettings['sender'],
  ): ISendMailOptions {
    const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
    return {
      ...rendered,
      from,
      // An object with one checked address, so that nodemailer does not parse it (CVE-2025-13033).
      to: { name: '', address: mail.to },
      date: this.clock.now(),
      // nodemailer writes the sender's domain in ASCII in From only. Some mail servers refuse other bytes in a header.
      messageId: `<${id}@${domainToASCII(domain) || domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    };
  }
}
