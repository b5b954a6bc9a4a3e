import type { OutboxLimits } from '../platform/outbox/outbox-worker';

/** Time-outs and limits of sending. Names that end in `Ms` are milliseconds. Tests inject lower values. */
export class MailLimits implements OutboxLimits {
  /** The limit of the name resolution, and separately of the TCP connection. */
  readonly connectMs: number = 5000;
  readonly greetingMs: number = 5000;
  /** Longest silence of the server after the greeting. It includes the time that its filters take for a message. */
  readonly socketMs: number = 30_000;
  /** The limit from the claim of a mail to the end of its sending. The connection is closed when it is exceeded. */
  readonly sendMs: number = 45_000;
  /** The limit of a test mail, for which an administrator waits. */
  readonly testMs: number = 15_000;
  /** Must be longer than `sendMs`: otherwise another process could claim a mail that is still being sent. */
  readonly leaseMs: number = 60_000;
  /** The interval between two searches for due mails. */
  readonly pollMs: number = 1000;
  /** Delay between queueing a mail and the first claim. The caller's transaction has usually committed by then. */
  readonly nudgeMs: number = 50;
  /** How long a stopping process waits for the mails that it is sending. */
  readonly stopMs: number = 4000;
  /** Longest pause between two attempts, before jitter. */
  readonly retryCapMs: number = 30_000;
  /** Mails that one process sends at the same time. */
  readonly concurrency: number = 4;
  /** Attempts that the server answered with 4xx, or during which the process died, before a mail is given up. */
  readonly maxAttempts: number = 100;
}

export const mailLimits = new MailLimits();
