import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MailerService } from '@nestjs-modules/mailer';
import { MailLimits } from '../mail-limits';
import { pooledOptions } from './smtp-options';
import type { SmtpSettings } from '../../platform/config/smtp-settings';

interface Transport {
  readonly name: string;
  users: number;
}

/** One pool of connections, for the settings of the moment; a former one is closed when its last mail is through. */
@Injectable()
export class SmtpTransports {
  private current: Transport | undefined;

  constructor(
    private readonly mailer: MailerService,
    private readonly limits: MailLimits,
  ) {}

  /** Lends the transport for one sending, under the name by which MailerService knows it. */
  async use<T>(settings: SmtpSettings, send: (transporterName: string) => Promise<T>): Promise<T> {
    const transport = this.transportFor(settings);
    transport.users++;
    try {
      return await send(transport.name);
    } finally {
      transport.users--;
      this.closeIfLeft(transport);
    }
  }

  /** No mail server is configured any more. */
  leave(): void {
    const former = this.current;
    this.current = undefined;
    if (former !== undefined) this.closeIfLeft(former);
  }

  private transportFor(settings: SmtpSettings): Transport {
    // The sender is of the message, not of the connection. A hash, because the name shows up in error messages.
    const { host, port, tls, auth } = settings;
    const name = createHash('sha256')
      .update(JSON.stringify([host, port, tls, auth]))
      .digest('hex');
    if (this.current?.name === name) return this.current;
    this.leave();
    this.mailer.addTransporter(name, pooledOptions(settings, this.limits));
    this.current = { name, users: 0 };
    return this.current;
  }

  private closeIfLeft(transport: Transport): void {
    if (transport !== this.current && transport.users === 0) this.mailer.removeTransporter(transport.name);
  }
}
