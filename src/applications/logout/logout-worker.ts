import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { OutboxWorker } from '../../platform/outbox/outbox-worker';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import { ApplicationLogouts, type ClaimedLogout } from '../persistence/application-logout.repository';
import { LogoutAttempt, type Outcome } from './logout-attempt';
import { LogoutLimits } from './logout-limits';

type Lane = OutboxWorker<ClaimedLogout, Outcome>;

/**
 * Sends the waiting logout tokens; every replica runs one. Each application has a lane with parallel POSTs of its own, so an
 * application that hangs or fails holds up no other one. After a failure a lane waits for the next poll: an application
 * that is down gets a few requests each second, however many tokens wait.
 */
@Injectable()
export class LogoutWorker implements OnModuleDestroy {
  private readonly logger = new Logger('logouts');
  private readonly unreadable = new LogThrottle();
  private readonly lanes = new Map<string, Lane>();
  private looking: Promise<void> | undefined;
  private again = false;
  private poll: NodeJS.Timeout | undefined;
  private nudged: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    private readonly logouts: ApplicationLogouts,
    private readonly attempt: LogoutAttempt,
    private readonly clock: Clock,
    private readonly limits: LogoutLimits,
  ) {}

  /** Only the server calls it. */
  startPolling(): void {
    this.poll = setInterval(() => void this.look(), this.limits.pollMs);
  }

  /** Call it after the commit of a row, to send it before the next poll. */
  nudge(): void {
    if (this.poll === undefined) return;
    this.nudged ??= setTimeout(() => {
      this.nudged = undefined;
      void this.look();
    }, this.limits.nudgeMs);
  }

  /** Makes one attempt for all due rows, and resolves when it has ended. */
  async sendDue(): Promise<void> {
    await this.look();
    await Promise.all([...this.lanes.values()].map((lane) => lane.sendDue()));
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearInterval(this.poll);
    clearTimeout(this.nudged);
    this.poll = undefined;
    await this.looking;
    await Promise.all([...this.lanes.values()].map((lane) => lane.stop()));
  }

  /** One look at a time. A look that is asked for meanwhile follows, because this one may have missed its row. */
  private look(): Promise<void> {
    this.again = true;
    return (this.looking ??= this.lookOften().finally(() => (this.looking = undefined)));
  }

  private async lookOften(): Promise<void> {
    while (this.again && !this.stopping) {
      this.again = false;
      try {
        for (const id of await this.logouts.due()) this.laneOf(id).look();
      } catch (error) {
        if (this.unreadable.allows(this.clock.now())) {
          this.logger.error(
            { err: error },
            'cannot read the outbox of the logout tokens, trying again at the next poll',
          );
        }
      }
    }
  }

  /** A lane without rows is a few bytes, and there are as many as applications. */
  private laneOf(applicationId: string): Lane {
    const known = this.lanes.get(applicationId);
    if (known !== undefined) return known;
    const lane: Lane = new OutboxWorker<ClaimedLogout, Outcome>(
      {
        what: 'logouts',
        idOf: ({ id }) => id,
        claim: (wanted) => this.logouts.claim(applicationId, wanted),
        attempt: (row, signal) => this.attempt.make(row, signal),
        write: (row, outcome) => this.write(row, outcome),
        handBack: (row, outcome) =>
          this.write(row, outcome.kind === 'settled' ? outcome : { ...outcome, again: this.clock.now() }),
        waitsAfter: ({ kind }) => kind === 'postponed',
      },
      this.clock,
      this.limits,
    );
    this.lanes.set(applicationId, lane);
    return lane;
  }

  private write(row: ClaimedLogout, outcome: Outcome): Promise<boolean> {
    if (outcome.kind === 'settled') return this.logouts.settle(row, outcome.settled);
    return this.logouts.postpone(row, outcome.again, outcome.answer);
  }
}
