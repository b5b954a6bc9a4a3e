import type { OutboxLimits } from '../../platform/outbox/outbox-worker';

/** Time-outs and limits of the logout tokens. Names that end in `Ms` are milliseconds. Tests inject other values. */
export class LogoutLimits implements OutboxLimits {
  /** The limit of one POST. It starts at the claim. */
  readonly sendMs: number = 8000;
  readonly leaseMs: number = 30_000;
  readonly pollMs: number = 1000;
  readonly nudgeMs: number = 20;
  readonly stopMs: number = 4000;
  /** Parallel POSTs of one process to one application. Each application has its own. */
  readonly concurrency: number = 4;
  /** Longest pause between two attempts, before jitter. */
  readonly retryCapMs: number = 3_600_000;
  /** An application that has not accepted a logout token for so long is not asked again (docs/spec/extensions.md#j). */
  readonly giveUpMs: number = 86_400_000;
}

export const logoutLimits = new LogoutLimits();
