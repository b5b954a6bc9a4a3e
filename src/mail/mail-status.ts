/** `mail_outbox.status`. Whatever is not waiting is final, and its payload is gone. */
export const mailStatus = {
  waiting: 0,
  sent: 1,
  /** Refused for good by the server, no address, or tried too often. */
  dead: 2,
  /** Sending it made no sense any more. */
  expired: 3,
  /** No mail server was configured (§6.2). */
  skipped: 4,
} as const;

export type FinalStatus = Exclude<(typeof mailStatus)[keyof typeof mailStatus], 0>;
