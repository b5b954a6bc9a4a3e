/** Values of `mail_outbox.status`. All except `waiting` are final; a final row has no payload any more. */
export const mailStatus = {
  waiting: 0,
  sent: 1,
  /** Refused with 5xx, not one plain address, tried too often, or not sendable because of a bug of this program. */
  dead: 2,
  /** Its `expires` passed before it could be sent. */
  expired: 3,
  /** No mail server was configured (docs/spec/service.md#6.2). */
  skipped: 4,
} as const;

export type FinalStatus = Exclude<(typeof mailStatus)[keyof typeof mailStatus], 0>;
