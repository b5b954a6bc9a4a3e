import { Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { MailLimits } from './mail-limits';
import { SmtpConfiguration } from './smtp/smtp-configuration';
import { describeFailure } from './smtp/smtp-failure';
import { smtpOptions } from './smtp/smtp-options';

/** `text` is one line for the operator. It contains neither the password nor the user name. */
export interface SmtpCheckResult {
  readonly status: 'ok' | 'skipped' | 'problem';
  readonly text: string;
}

/** The SMTP check of `doctor`: connects, starts TLS and logs in, but sends nothing. */
@Injectable()
export class SmtpCheck {
  constructor(
    private readonly configuration: SmtpConfiguration,
    private readonly limits: MailLimits,
  ) {}

  /** Never throws. A server that does not answer is reported after the time-out of the greeting. */
  async checkSmtp(): Promise<SmtpCheckResult> {
    let server = '';
    try {
      const settings = await this.configuration.current();
      if (settings === undefined) return { status: 'skipped', text: 'no mail server is configured, mails are skipped' };
      server = `${settings.host}:${settings.port} (${settings.tls})`;
      await createTransport(smtpOptions(settings, { ...this.limits, socketMs: this.limits.greetingMs })).verify();
      return { status: 'ok', text: `${server} answers` };
    } catch (error) {
      const { error: kind, code, reason, reply, problem } = describeFailure(error);
      const parts = [server, problem, ...(problem === undefined ? [code ?? kind, reason, reply] : [])];
      return { status: 'problem', text: parts.filter((part) => part !== undefined && part !== '').join(' ') };
    }
  }
}
