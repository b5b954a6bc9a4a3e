/** The numbers of sending, in milliseconds unless said otherwise; injected as one value, so that a test can make them small. */
export abstract class MailLimits {
  /** Name resolution and TCP connection, each. */
  abstract readonly connectMs: number;
  abstract readonly greetingMs: number;
  /** Silence of the server at any later point, the check of the whole message by its filters included. */
  abstract readonly socketMs: number;
  /** From the claim of a mail to the end of its sending, whatever the server does: then the connection is cut. */
  abstract readonly sendMs: number;
  /** Longer than `sendMs`: as long as a mail may be on its way it belongs to whoever sends it. */
  abstract readonly leaseMs: number;
  abstract readonly pollMs: number;
  /** From queueing to the first look: by then the caller's transaction has usually been committed. */
  abstract readonly nudgeMs: number;
  /** What a program that stops gives to the mails on their way. */
  abstract readonly stopMs: number;
  abstract readonly retryCapMs: number;
  /** Mails on their way at once, in one process. */
  abstract readonly concurrency: number;
  /** Sendings that the server answered with "later", or that ended with the process, before a mail is given up. */
  abstract readonly maxAttempts: number;
}

export const mailLimits: MailLimits = {
  connectMs: 5000,
  greetingMs: 5000,
  socketMs: 30_000,
  sendMs: 45_000,
  leaseMs: 60_000,
  pollMs: 1000,
  nudgeMs: 50,
  stopMs: 4000,
  retryCapMs: 30_000,
  concurrency: 4,
  maxAttempts: 100,
};
