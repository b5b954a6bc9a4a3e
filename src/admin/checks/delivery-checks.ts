import { Injectable } from '@nestjs/common';
import { LogoutTokens } from '../../applications/logout-tokens';
import { OpenIdSettings } from '../../applications/openid-settings';
import { EventOutbox } from '../../events/event-outbox';
import { ReceiverHealth } from '../../events/receiver-health';
import { SmtpCheck } from '../../mail/smtp-check';
import { MfaSettings } from '../../mfa/mfa-settings';
import type { Finding } from './finding';
import { checkEvents, checkLogouts, checkMail, checkReceivers } from './peer-checks';

/** The servers that get something from this service: mails, events and logout tokens. */
@Injectable()
export class DeliveryChecks {
  constructor(
    private readonly smtp: SmtpCheck,
    private readonly mfa: MfaSettings,
    private readonly events: EventOutbox,
    private readonly receivers: ReceiverHealth,
    private readonly logouts: LogoutTokens,
    private readonly openId: OpenIdSettings,
  ) {}

  ofMail(): Promise<Finding> {
    return checkMail(this.mfa, this.smtp);
  }

  ofEvents(): Promise<Finding>[] {
    return [checkEvents(this.events), ...(this.receivers.isOn ? [checkReceivers(() => this.receivers.figures())] : [])];
  }

  ofLogouts(): Promise<Finding>[] {
    return this.openId.openId === undefined ? [] : [checkLogouts(this.logouts)];
  }
}
