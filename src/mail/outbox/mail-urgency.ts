import { changeType } from '../../shared/change-type';
import type { QueuedMail } from './mail-payload';

/** Values of `mail_outbox.urgency`: a mail that a person is waiting for overtakes invitations and notices (ADR 0007). */
export const mailUrgency = { none: 0, urgent: 1 } as const;
export type MailUrgency = (typeof mailUrgency)[keyof typeof mailUrgency];

export function urgencyOf(mail: QueuedMail): MailUrgency {
  // Invitations have the same kind as links to forgotten passwords, and come by the thousand.
  const forgotten = mail.kind === 'reset-link' && mail.type === changeType.forgotten;
  return mail.kind === 'otp' || forgotten ? mailUrgency.urgent : mailUrgency.none;
}
