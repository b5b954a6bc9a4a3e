import { mailboxOf } from '../shared/mail-address';
import type { SettingsReader } from '../platform/config/settings-reader';
import { settingsOfUrl, SmtpProblem } from './smtp-settings';

/** The mail settings that apply if the group `SMTP` of the root tenant sets nothing (docs/spec/decisions.md#mail). */
export abstract class MailSettings {
  abstract readonly smtpUrl: string | undefined;
  abstract readonly from: string;
}

/** The default sender, for a first trial. No mail server has this domain. */
export const defaultSender = 'no-reply@localhost';

/** Checks everything at the start. Otherwise a mistake would show when the first code has to be sent. */
export function readMailSettings(env: SettingsReader): MailSettings {
  const from = env.text('MAIL_FROM', defaultSender);
  if (mailboxOf(from) === undefined) env.problem('MAIL_FROM', 'must be an address, or a name and <address>');
  if (env.optional('SMTP_URL') === undefined) return { smtpUrl: undefined, from };
  const smtpUrl = env.url('SMTP_URL', ['smtp:', 'smtps:']);
  if (smtpUrl !== '' && !isUsable(smtpUrl)) {
    env.problem('SMTP_URL', 'must have a host; smtp:// may have ?tls=none, ?tls=starttls or ?tls=tls');
  }
  return { smtpUrl, from };
}

function isUsable(smtpUrl: string): boolean {
  try {
    return settingsOfUrl(smtpUrl, defaultSender).host !== '';
  } catch (error) {
    if (error instanceof SmtpProblem) return false;
    throw error;
  }
}
