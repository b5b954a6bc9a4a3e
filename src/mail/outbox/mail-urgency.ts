import { changeType } from '../../shared/change-type';
import type { QueuedMail } from './mail-payload';

/** Values of `mail_outbox.urgency`: what a person is waiting for overtakes invitations and notices (ADR 0007). */
export const mailUrgency = { none: 0, link: 1, code: 2 } as const;
export type MailUrgency = (typeof mailUrgency)[keyof typeof mailUrgency];

export function urgencyOf(mail: QueuedMail): MailUrgency {
  if (mail.kind === 'otp') return mailUrgency.code;
  // Invitations come by the thousand, links to forgotten passwords one by one.
  return mail.kind === 'reset-link' && mail.type === changeType.forgotten ? mailUrgency.link : mailUrgency.none;
}
