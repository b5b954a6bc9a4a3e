import type { OutboxLimits } from '../platform/outbox/outbox-worker';

/** Time-outs and limits of sending. Names that end in `Ms` are milliseconds. Tests inject lower values. */
export abstract class MailLimits implements OutboxLimits {
  /** The limit of the name resolution, and separately of the TCP connection. */
  abstract readonly connectMs: number;
  abstract readonly greetingMs: number;
  /** Longest silence of the server after the greeting. It includes the time that its filters take for a message. */
  abstract readonly socketMs: number;
  /** The limit from the claim of a mail to the end of its sending. The connection is closed when it is exceeded. */
  abstract readonly sendMs: number;
  /** The limit of a test mail, for which an administrator waits. */
  abstract readonly testMs: number;
  /** Must be longer than `sendMs`: otherwise another process could claim a mail that is still being sent. */
  abstract readonly leaseMs: number;
  /** The interval between two searches for due mails. */
  abstract readonly pollMs: number;
  /** Delay between queueing a mail and the first claim. The caller's transaction has usually committed by then. */
  abstract readonly nudgeMs: number;
  /** How long a stopping process waits for the mails that it is sending. */
  abstract readonly stopMs: number;
  /** Longest pause between two attempts, before jitter. */
  abstract readonly retryCapMs: number;
  /** Mails that one process sends at the same time. */
  abstract readonly concurrency: number;
  /** Attempts that the server answered with 4xx, or during which the process died, before a mail is given up. */
  abstract readonly maxAttempts: number;
}

export const mailLimits: MailLimits = {
  connectMs: 5000,
  greetingMs: 5000,
  socketMs: 30_000,
  sendMs: 45_000,
  testMs: 15_000,
  leaseMs: 60_000,
  pollMs: 1000,
  nudgeMs: 50,
  stopMs: 4000,
  retryCapMs: 30_000,
  concurrency: 4,
  maxAttempts: 100,
};
