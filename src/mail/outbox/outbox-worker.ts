import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { MailLimits } from '../mail-limits';
import { OnceAMinute } from '../../shared/once-a-minute';
import { MailAttempt, type Outcome } from './mail-attempt';
import { type ClaimedMail, OutboxRows } from './outbox-rows';

/** Within what the lease leaves after the longest sending: the store may be away for a moment when a mail was sent. */
const settleTries = 20;
const settlePauseMs = 500;

/**
 * Sends what lies in the outbox. Every replica runs one: each mail is sent once, and again only when the process that was
 * sending it died, or stopped before the server had answered (§6.2, ADR 0007).
 */
@Injectable()
export class OutboxWorker implements OnModuleDestroy {
  private readonly logger = new Logger('mail');
  private readonly unreadable = new OnceAMinute();
  /** Each mail that is being sent, by what cuts its connection. */
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
    // Otherwise a mail could be taken over, and sent twice, while its first sending is still going on.
    if (limits.leaseMs <= limits.sendMs) throw new Error('the lease of a mail must be longer than its sending');
  }

  /** Not by itself: the command line queues mails and must not send those of the servers, whose settings it may not have. */
  startPolling(): void {
    this.poll = setInterval(() => this.look(), this.limits.pollMs);
  }

  /** A mail was queued here. The poll finds those of other processes, and those whose transaction took its time. */
  nudge(): void {
    if (this.poll === undefined) return;
    this.nudged ??= setTimeout(() => {
      this.nudged = undefined;
      this.look();
    }, this.limits.nudgeMs);
  }

  /** Sends what is due now, and comes back when nothing is left to do. */
  async sendDue(): Promise<void> {
    this.look();
    while (this.claiming !== undefined || this.underWay.size > 0) {
      await this.claiming;
      await Promise.all(this.underWay.values());
    }
  }

  /**
   * Takes no more mails and lets those under way come to their end. After `stopMs` their connections are cut and they are
   * given back at once, for another replica. In this phase, because MailerService closes its connections in it, later.
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

  /** Claims no more than can be sent at once: these are all that the death of this process can touch. */
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
      if (this.unreadable.allows(this.clock.now())) this.logger.error({ err: error }, 'cannot read the mail outbox');
    }
  }

  private start(mail: ClaimedMail): void {
    const connection = new AbortController();
    // From the claim on, so that whatever it waits for (the store, names, the server) ends before the lease does.
    const passed = this.clock.now().getTime() - mail.claimedAt.getTime();
    const limit = setTimeout(() => connection.abort(), this.limits.sendMs - passed);
    const sending = this.process(mail, connection.signal)
      .catch((error: unknown) => this.logger.error({ mail: mail.id, err: error }, 'a mail could not be settled'))
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
    if (!written) this.logger.warn({ mail: mail.id }, 'a mail was taken over before its end was written');
  }

  private write(mail: ClaimedMail, outcome: Outcome): Promise<boolean> {
    if ('final' in outcome) return this.rows.settle(mail, outcome.final);
    // Cut off by the end of this process: not the mail's fault, and no reason to wait.
    if (this.cutOff) return this.rows.giveBack(mail, this.clock.now(), false);
    return this.rows.giveBack(mail, outcome.again, outcome.charged);
  }

  /** A mail that was sent and is not marked would be sent again. */
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
