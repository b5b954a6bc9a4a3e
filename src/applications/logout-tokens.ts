import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { LogoutCounts, type LogoutResult } from './logout/logout-counts';
import { LogoutWorker } from './logout/logout-worker';
import { OpenIdSettings } from './openid-settings';
import {
  ApplicationLogouts,
  type LogoutPlace,
  type LogoutReceipt,
  type ToldApplication,
} from './persistence/application-logout.repository';

export type { LogoutPlace, LogoutReceipt, ToldApplication } from './persistence/application-logout.repository';

export interface LogoutFigures {
  /** At most 100,000, like `failed`. */
  readonly waiting: number;
  /** 0 when nothing waits. */
  readonly oldestWaitingSeconds: number;
  /** Tokens that no application has accepted within a day, and that are not purged yet. */
  readonly failed: number;
}

/** The logout tokens as operators and administrators see them: start of the server, receipts, metrics, `doctor`. */
@Injectable()
export class LogoutTokens {
  constructor(
    private readonly logouts: ApplicationLogouts,
    private readonly worker: LogoutWorker,
    private readonly counts: LogoutCounts,
    private readonly settings: OpenIdSettings,
    private readonly clock: Clock,
  ) {}

  /** Starts the sending, also of what other processes queued. Only the server calls it. */
  start(): void {
    if (this.isOn) this.worker.startPolling();
  }

  get isOn(): boolean {
    return this.settings.openId !== undefined;
  }

  /** Makes one attempt for each due token now instead of at the next poll. */
  sendDue(): Promise<void> {
    return this.worker.sendDue();
  }

  /** The attempts of this process by their result. Undefined with `OIDC=off`. */
  get results(): Readonly<Record<LogoutResult, number>> | undefined {
    return this.isOn ? this.counts.by : undefined;
  }

  /** What the applications of a user were told, the newest first. */
  receipts(userId: string, limit: number, after?: LogoutPlace): Promise<LogoutReceipt[]> {
    return this.logouts.list(userId, limit, after);
  }

  /** What the applications of a user answered to the ends between two moments, by application. */
  told(userId: string, since: Date, before: Date): Promise<ToldApplication[]> {
    return this.logouts.told(userId, since, before);
  }

  /** Undefined with `OIDC=off`. The numbers cover all replicas. */
  async figures(): Promise<LogoutFigures | undefined> {
    if (!this.isOn) return undefined;
    const [waiting, failed] = [await this.logouts.counted('waiting'), await this.logouts.counted('failed')];
    const age = waiting.oldest === null ? 0 : (this.clock.now().getTime() - waiting.oldest.getTime()) / 1000;
    return { waiting: waiting.count, oldestWaitingSeconds: Math.max(0, age), failed: failed.count };
  }

  /** Applications that have not accepted a token for so long, by name. */
  overdue(seconds: number): Promise<{ readonly id: string; readonly name: string; readonly waiting: number }[]> {
    return this.logouts.overdue(this.clock.secondsFromNow(-seconds));
  }
}
