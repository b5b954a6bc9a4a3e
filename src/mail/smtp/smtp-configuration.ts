import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../platform/config/app-config';
import { KeyRing } from '../../platform/crypto/key-ring';
import { SystemSettings } from '../../platform/settings/system-settings';
import { openSmtpSecret } from '../smtp-secret';
import { settingsOfTenant, settingsOfUrl, type SmtpSettings } from '../../platform/config/smtp-settings';

/** Which mail server is to be used at this moment: asked before each sending, so no restart is needed (§6.2). */
@Injectable()
export class SmtpConfiguration {
  constructor(
    private readonly settings: SystemSettings,
    private readonly config: AppConfig,
    private readonly keys: KeyRing,
  ) {}

  /** @returns undefined when none is configured. @throws SmtpProblem */
  async current(): Promise<SmtpSettings | undefined> {
    const { smtpUrl, from } = this.config.mail;
    const group = await this.settings.group('SMTP');
    const ofTenant = settingsOfTenant(group, (stored) => openSmtpSecret(this.keys, stored), from);
    return ofTenant ?? (smtpUrl === undefined ? undefined : settingsOfUrl(smtpUrl, from));
  }
}
