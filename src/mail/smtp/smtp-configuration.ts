import { Injectable } from '@nestjs/common';
import { MailSettings } from '../mail-settings';
import { settingsOfTenant, settingsOfUrl, type SmtpSettings } from '../smtp-settings';
import { KeyRing } from '../../platform/crypto/key-ring';
import { SystemSettings } from '../../platform/settings/system-settings';
import { openSmtpSecret } from '../smtp-secret';

/** The current mail server, read before each sending: a change needs no restart (docs/spec/decisions.md#mail). */
@Injectable()
export class SmtpConfiguration {
  constructor(
    private readonly settings: SystemSettings,
    private readonly mail: MailSettings,
    private readonly keys: KeyRing,
  ) {}

  /** @returns undefined when no mail server is configured. @throws SmtpProblem when the settings are invalid */
  async current(): Promise<SmtpSettings | undefined> {
    const { smtpUrl, from } = this.mail;
    const group = await this.settings.group('SMTP');
    const ofTenant = settingsOfTenant(group, (stored) => openSmtpSecret(this.keys, stored), from);
    return ofTenant ?? (smtpUrl === undefined ? undefined : settingsOfUrl(smtpUrl, from));
  }
}
