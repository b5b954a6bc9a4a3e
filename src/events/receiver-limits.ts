import type { OutboxLimits } from '../platform/outbox/outbox-worker';

/** At most so many receivers: the metrics have a label for each. */
export const mostReceivers = 20;

/** Time-outs and limits of the receivers. Names that end in `Ms` are milliseconds. Tests inject other values. */
export class ReceiverLimits implements OutboxLimits {
  /** Everything that a sender does before it gives the receiver back. */
  readonly sendMs: number = 30_000;
  readonly leaseMs: number = 60_000;
  readonly pollMs: number = 1000;
  readonly nudgeMs: number = 50;
  readonly stopMs: number = 4000;
  /** One slot for each receiver: one that hangs holds up no other one. */
  readonly concurrency: number = mostReceivers;
  /** The limit of one POST. */
  readonly postMs: number = 10_000;
  /** After so long a sender begins no further POST. With `postMs` it ends within `sendMs`. */
  readonly turnMs: number = 15_000;
  /** Events of one read. */
  readonly batch: number = 100;
  /** Longest pause between two attempts, before jitter. */
  readonly retryCapMs: number = 3_600_000;
  /** An event that the receiver has refused as such for so long is set aside. */
  readonly refusedMs: number = 300_000;
}

export const receiverLimits = new ReceiverLimits();
