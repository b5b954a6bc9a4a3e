import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { MailSettings } from '../mail/mail-settings';
import { RedisSettings } from '../platform/config/redis-settings';
import { bareHost } from '../platform/http/address-kind';
import { Clock } from '../shared/clock';
import { SharedReading } from '../shared/shared-reading';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { ConnectionChecks, type Finding } from './connection-checks';

export interface CheckReport {
  readonly at: Date;
  readonly findings: readonly Finding[];
}

/** So long an answer is given again. Otherwise the button would be a way to hammer the servers that are asked. */
export const rememberedMs = 30_000;

/**
 * The checks of `doctor` for administrators of the root tenant (docs/operations/administration.md#checks). A process makes one run at
 * a time, and whoever asks meanwhile gets its answer.
 */
@Injectable()
export class RequestedChecks {
  private readonly reading: SharedReading<CheckReport>;
  private readonly hidden: ReadonlySet<string>;

  constructor(
    checks: ConnectionChecks,
    private readonly changes: AdminChanges,
    clock: Clock,
    mail: MailSettings,
    redis: RedisSettings,
  ) {
    this.hidden = new Set([mail.smtpUrl, redis.redisUrl].flatMap((url) => (url ? [new URL(url).hostname] : [])));
    this.reading = new SharedReading<CheckReport>(
      async () => ({ at: clock.now(), findings: (await checks.all()).map((one) => this.shown(one)) }),
      () => true,
      clock,
      rememberedMs,
    );
  }

  /** The audit row comes first, so that nothing is asked without one. */
  async run(by: Authority): Promise<CheckReport> {
    await this.changes.make(by, ({ record }) => record('CONNECTIONS_CHECKED'));
    return this.reading.value();
  }

  /**
   * The console hides the settings whose address may have a password in it. So a text must not tell their hosts, nor the addresses
   * that a name has in the network of the service.
   */
  private shown({ check, status, text }: Finding): Finding {
    return { check, status, text: text.replace(/[^\s,;()]+/g, (word) => (this.isHidden(word) ? 'the server' : word)) };
  }

  private isHidden(word: string): boolean {
    const host = bareHost(/^\[.*\]:\d+$|^[^:]*:\d+$/.test(word) ? word.replace(/:\d+$/, '') : word);
    return isIP(host) !== 0 || this.hidden.has(host);
  }
}
