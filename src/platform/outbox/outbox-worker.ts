import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import type { Lease } from './leased-rows';

/** 20 tries in 10 s bridge a short outage of the database. They fit into the lease even after the longest sending. */
const settleTries = 20;
const settlePauseMs = 500;

/** Time-outs and limits of sending. Names that end in `Ms` are milliseconds. */
export interface OutboxLimits {
  /** The limit from the claim of an item to the end of its sending. The connection is closed when it is exceeded. */
  readonly sendMs: number;
  /** Must be longer than `sendMs`: otherwise another process could claim an item that is still being sent. */
  readonly leaseMs: number;
  /** The interval between two searches for due items. */
  readonly pollMs: number;
  /** Delay between queueing an item and the first claim. The caller's transaction has usually committed by then. */
  readonly nudgeMs: number;
  /** How long a stopping process waits for the items that it is sending. */
  readonly stopMs: number;
  /** Items that one process sends at the same time. */
  readonly concurrency: number;
}

/** What the worker works off: mails, or users with waiting events. */
export interface OutboxQueue<Item extends Lease, Outcome> {
  /** What an item is called in the log. */
  readonly what: string;
  idOf(item: Item): string;
  claim(wanted: number): Promise<Item[]>;
  /** Sends, and ends soon after the signal. If it throws, the item waits until its lease ends. */
  attempt(item: Item, signal: AbortSignal): Promise<Outcome>;
  /** Writes the outcome. @returns false if another process has claimed the item in the meantime */
  write(item: Item, outcome: Outcome): Promise<boolean>;
  /** The shutdown aborted the attempt: the attempt does not count, and the item is due at once. */
  handBack(item: Item, outcome: Outcome): Promise<boolean>;
  /**
   * Whether the worker waits for the next poll before it claims more. Without this method it never waits.
   */
  waitsAfter?(outcome: Outcome): boolean;
}

/**
 * Sends the items of a queue; every replica runs one worker. An item is normally sent once. ADR 0007 lists the cases in
 * which it is sent again.
 */
export class OutboxWorker<Item extends Lease, Outcome> {
  private readonly logger: Logger;
  private readonly unreadable = new LogThrottle();
  /** The items that are being sent. The key is the controller that aborts the connection. */
  private readonly underWay = new Map<AbortController, Promise<void>>();
  private claiming: Promise<void> | undefined;
  private again = false;
  private stopping = false;
  private cutOff = false;
  private poll: NodeJS.Timeout | undefined;
  private nudged: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: OutboxQueue<Item, Outcome>,
    private readonly clock: Clock,
    private readonly limits: OutboxLimits,
  ) {
    this.logger = new Logger(queue.what);
    // With a shorter lease, another process could claim and send an item that this process is still sending.
    if (limits.leaseMs <= limits.sendMs) throw new Error('the lease (leaseMs) must be longer than sendMs');
  }

  /** Starts the poll. Only the server calls it: the command line may lack the settings to send the queued items. */
  startPolling(): void {
    this.poll = setInterval(() => this.look(), this.limits.pollMs);
  }

  /** Call it after queueing an item, to send it before the next poll. The poll finds an item that commits later. */
  nudge(): void {
    if (this.poll === undefined) return;
    this.nudged ??= setTimeout(() => {
      this.nudged = undefined;
      this.look();
    }, this.limits.nudgeMs);
  }

  /** Sends all due items. Resolves when none is left, or when `waitsAfter` lets the worker wait. */
  async sendDue(): Promise<void> {
    this.look();
    while (this.claiming !== undefined || this.underWay.size > 0) {
      await this.claiming;
      await Promise.all(this.underWay.values());
    }
  }

  /**
   * Claims no more items and waits for those that are being sent. After `stopMs` it cuts their connections and gives
   * the items back at once, for another replica.
   */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.poll);
    clearTimeout(this.nudged);
    this.poll = undefined;
    const patience = setTimeout(() => {
      this.cutOff = true;
      for (const connection of this.underWay.keys()) connection.abort();
    }, this.limits.stopMs);
    await this.claiming;
    await Promise.all(this.underWay.values());
    clearTimeout(patience);
  }

  /** Looks for due items now. `nudge` and the poll call it; a queue that is polled together with others is told by it. */
  look(): void {
    this.again = true;
    this.claiming ??= this.claim().finally(() => {
      this.claiming = undefined;
      if (this.again && this.hasRoom) this.look();
    });
  }

  private get hasRoom(): boolean {
    return !this.stopping && this.underWay.size < this.limits.concurrency;
  }

  /** Claims only as many items as this process can send at once. If the process dies, only these items are delayed. */
  private async claim(): Promise<void> {
    try {
      while (this.again && this.hasRoom) {
        this.again = false;
        const items = await this.queue.claim(this.limits.concurrency - this.underWay.size);
        for (const item of items) this.start(item);
        this.again ||= items.length > 0 && this.queue.waitsAfter === undefined;
      }
    } catch (error) {
      this.again = false;
      if (this.unreadable.allows(this.clock.now()))
        this.logger.error({ err: error }, `cannot read the ${this.queue.what} outbox, trying again at the next poll`);
    }
  }

  private start(item: Item): void {
    const connection = new AbortController();
    // The time limit starts at the claim, so that every wait (database, DNS, server) ends before the lease does.
    const passed = this.clock.now().getTime() - item.claimedAt.getTime();
    const limit = setTimeout(() => connection.abort(), this.limits.sendMs - passed);
    let waits = false;
    const sending = this.process(item, connection.signal)
      .then((outcome) => {
        waits = this.queue.waitsAfter?.(outcome) ?? false;
      })
      .catch((error: unknown) => {
        const { what } = this.queue;
        this.logger.error(
          { [what]: this.queue.idOf(item), err: error },
          `the result of a ${what} could not be stored, the ${what} may be sent again`,
        );
      })
      .finally(() => {
        clearTimeout(limit);
        this.underWay.delete(connection);
        if (this.hasRoom && !waits) this.look();
      });
    this.underWay.set(connection, sending);
  }

  private async process(item: Item, signal: AbortSignal): Promise<Outcome> {
    const outcome = await this.queue.attempt(item, signal);
    const written = await this.repeatedly(() =>
      this.cutOff ? this.queue.handBack(item, outcome) : this.queue.write(item, outcome),
    );
    const { what } = this.queue;
    if (!written)
      this.logger.warn(
        { [what]: this.queue.idOf(item) },
        `the lease of a ${what} ended before its result was stored, another process has claimed it`,
      );
    return outcome;
  }

  /** Retries a failed write: a sent item that is not marked as sent would be sent again. */
  private async repeatedly(write: () => Promise<boolean>): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (tries === settleTries || this.cutOff) throw error;
        await pause(settlePauseMs);
      }
    }
  }
}
