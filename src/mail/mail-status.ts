/** Values of `mail_outbox.status`. All except `waiting` are final; a final row has no payload any more. */
export const mailStatus = {
  waiting: 0,
  sent: 1,
  /** The server refused it with 5xx, the recipient is not one plain address, or it was tried too often. */
  dead: 2,
  /** Its `expires` passed before it could be sent. */
  expired: 3,
  /** No mail server was configured (docs/spec/service.md#6.2). */
  skipped: 4,
} as const;

export type FinalStatus = Exclude<(typeof mailStatus)[keyof typeof mailStatus], 0>;
