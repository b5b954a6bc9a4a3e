import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MailerService } from '@nestjs-modules/mailer';
import { MailLimits } from '../mail-limits';
import { pooledOptions } from './smtp-options';
import type { SmtpSettings } from '../smtp-settings';

interface Transport {
  readonly name: string;
  users: number;
}

/** The connection pool of the current settings. The pool of former settings is closed after its last mail. */
@Injectable()
export class SmtpTransports {
  private current: Transport | undefined;

  constructor(
    private readonly mailer: MailerService,
    private readonly limits: MailLimits,
  ) {}

  /** Runs one sending with the transport of these settings. MailerService finds a transport by its name. */
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

  /** Closes the current pool as soon as it is idle. Called when no mail server is configured any more. */
  leave(): void {
    const former = this.current;
    this.current = undefined;
    if (former !== undefined) this.closeIfLeft(former);
  }

  private transportFor(settings: SmtpSettings): Transport {
    // The sender belongs to the message, not to the connection. The name is a hash because error messages contain it.
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
