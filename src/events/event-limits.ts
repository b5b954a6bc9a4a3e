import type { OutboxLimits } from '../platform/outbox/outbox-worker';

/** Time-outs and limits of the webhooks. Names that end in `Ms` are milliseconds. Tests inject lower values. */
export abstract class EventLimits implements OutboxLimits {
  /** The limit of one POST. It starts at the claim. */
  abstract readonly sendMs: number;
  abstract readonly leaseMs: number;
  abstract readonly pollMs: number;
  abstract readonly nudgeMs: number;
  abstract readonly stopMs: number;
  /** Parallel POSTs of one process, for first attempts. Retries have as many of their own. */
  abstract readonly concurrency: number;
  /** Longest pause between two attempts, before jitter. */
  abstract readonly retryCapMs: number;
}

export const eventLimits: EventLimits = {
  sendMs: 10_000,
  leaseMs: 30_000,
  pollMs: 1000,
  nudgeMs: 20,
  stopMs: 4000,
  concurrency: 4,
  retryCapMs: 3_600_000,
};
