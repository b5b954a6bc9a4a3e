import type { OutboxLimits } from '../platform/outbox/outbox-worker';

/** Time-outs and limits of the webhooks. Names that end in `Ms` are milliseconds. Tests inject lower values. */
export class EventLimits implements OutboxLimits {
  /** The limit of one POST. It starts at the claim. */
  readonly sendMs: number = 10_000;
  readonly leaseMs: number = 30_000;
  readonly pollMs: number = 1000;
  readonly nudgeMs: number = 20;
  readonly stopMs: number = 4000;
  /** Parallel POSTs of one process, for first attempts. Retries have as many of their own. */
  readonly concurrency: number = 4;
  /** Longest pause between two attempts, before jitter. */
  readonly retryCapMs: number = 3_600_000;
}

export const eventLimits = new EventLimits();
