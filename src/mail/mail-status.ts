/**
 * Values of `mail_outbox.status`. All except `waiting` are final. A final row has no payload any more, except a dead one,
 * which an administrator may retry until it expires.
 */
export const mailStatus = {
  waiting: 0,
  sent: 1,
  /**
   * The server refused the mail with 5xx, the recipient is not one plain address, the attempts are used up, or a bug of
   * this program prevents the sending.
   */
  dead: 2,
  /** The mail could not be sent before its `expires`, or its user was deleted. */
  expired: 3,
  /** No mail server was configured (docs/spec/service.md#6.2). */
  skipped: 4,
} as const;

export type MailStatusName = keyof typeof mailStatus;
export type MailStatus = (typeof mailStatus)[MailStatusName];
export type FinalStatus = Exclude<MailStatus, 0>;
