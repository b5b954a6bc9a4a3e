import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { MailLimits } from '../mail-limits';
import { LogThrottle } from '../../shared/log-throttle';
import { MailAttempt, type Outcome } from './mail-attempt';
import { type ClaimedMail, OutboxRows } from './outbox-rows';

/** 20 tries in 10 s bridge a short outage of the database. They fit into the lease even after the longest sending. */
const settleTries = 20;
const settlePauseMs = 500;

/**
 * Sends the mails of the outbox; every replica runs one worker. A mail is normally sent once. ADR 0007 lists the cases
 * in which it is sent again.
 */
@Injectable()
export class OutboxWorker implements OnModuleDestroy {
  private readonly logger = new Logger('mail');
  private readonly unreadable = new LogThrottle();
  /** The mails that are being sent. The key is the controller that aborts the connection. */
  private readonly underWay = new Map<AbortController, Promise<void>>();
  private claiming: Promise<void> | undefined;
  private again = false;
  private stopping = false;
  private cutOff = false;
  private poll: NodeJS.Timeout | undefined;
  private nudged: NodeJS.Timeout | undefined;

  constructor(
    private readonly rows: OutboxRows,
    private readonly attempt: MailAttempt,
    private readonly clock: Clock,
    private readonly limits: MailLimits,
  ) {
    // With a shorter lease, another process could claim and send a mail that this process is still sending.
    if (limits.leaseMs <= limits.sendMs) throw new Error('MailLimits: the lease (leaseMs) must be longer than sendMs');
  }

  /** Starts the poll. Only the server calls it: the command line may lack the settings to send the queued mails. */
  startPolling(): void {
    this.poll = setInterval(() => this.look(), this.limits.pollMs);
  }

  /** Call it after queueing a mail, to send it before the next poll. The poll finds a mail that commits later. */
  nudge(): void {
    if (this.poll === undefined) return;
    this.nudged ??= setTimeout(() => {
      this.nudged = undefined;
      this.look();
    }, this.limits.nudgeMs);
  }

  /** Sends all due mails and resolves when none is left. */
  async sendDue(): Promise<void> {
    this.look();
    while (this.claiming !== undefined || this.underWay.size > 0) {
      await this.claiming;
      await Promise.all(this.underWay.values());
    }
  }

  /**
   * Claims no more mails and waits for those that are being sent. After `stopMs` it cuts their connections and gives
   * the mails back at once, for another replica. This runs in `onModuleDestroy` because MailerService closes its
   * connections later in the same phase.
   */
  async onModuleDestroy(): Promise<void> {
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

  private look(): void {
    this.again = true;
    this.claiming ??= this.claim().finally(() => {
      this.claiming = undefined;
      if (this.again && this.hasRoom) this.look();
    });
  }

  private get hasRoom(): boolean {
    return !this.stopping && this.underWay.size < this.limits.concurrency;
  }

  /** Claims only as many mails as this process can send at once. If the process dies, only these mails are delayed. */
  private async claim(): Promise<void> {
    try {
      while (this.again && this.hasRoom) {
        this.again = false;
        const mails = await this.rows.claim(this.limits.concurrency - this.underWay.size);
        for (const mail of mails) this.start(mail);
        this.again ||= mails.length > 0;
      }
    } catch (error) {
      this.again = false;
      if (this.unreadable.allows(this.clock.now()))
        this.logger.error({ err: error }, 'cannot read the mail outbox, trying again at the next poll');
    }
  }

  private start(mail: ClaimedMail): void {
    const connection = new AbortController();
    // The time limit starts at the claim, so that every wait (database, DNS, mail server) ends before the lease does.
    const passed = this.clock.now().getTime() - mail.claimedAt.getTime();
    const limit = setTimeout(() => connection.abort(), this.limits.sendMs - passed);
    const sending = this.process(mail, connection.signal)
      .catch((error: unknown) =>
        this.logger.error(
          { mail: mail.id, err: error },
          'the result of a mail could not be stored, the mail may be sent again',
        ),
      )
      .finally(() => {
        clearTimeout(limit);
        this.underWay.delete(connection);
        if (this.hasRoom) this.look();
      });
    this.underWay.set(connection, sending);
  }

  private async process(mail: ClaimedMail, signal: AbortSignal): Promise<void> {
    const outcome = await this.attempt.make(mail, signal);
    const written = await this.repeatedly(() => this.write(mail, outcome));
    if (!written)
      this.logger.warn(
        { mail: mail.id },
        'the lease of a mail ended before its result was stored, another process has claimed it',
      );
  }

  private write(mail: ClaimedMail, outcome: Outcome): Promise<boolean> {
    if ('final' in outcome) return this.rows.settle(mail, outcome.final);
    // The shutdown of this process aborted the attempt: the attempt does not count, and the mail is due at once.
    if (this.cutOff) return this.rows.giveBack(mail, this.clock.now(), false);
    return this.rows.giveBack(mail, outcome.again, outcome.charged);
  }

  /** Retries a failed write: a sent mail that is not marked as sent would be sent again. */
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
