import { Injectable } from '@nestjs/common';
import { CaptchaReceipts } from '../captcha/captcha-receipts';
import { MailOutbox } from '../mail/mail-outbox';
import { Database } from '../platform/database/database';
import { Clock } from '../shared/clock';
import { batchRows, inBatches, type OldRows, removeOldRows } from './sweep/old-rows';

/** Days that `login_logs` and `audit_logs` are kept unless the operator says otherwise: a year and a month. */
export const defaultLogDays = 400;

const minutes = 60;
const days = 24 * 60 * minutes;

/**
 * Past its end a row still answers "expired" instead of "unknown", and a replica whose clock runs behind may still need
 * it. A token needs no more than that: its own `exp` is judged before its row is looked for.
 */
const keptSeconds = {
  tokens: 60 * minutes,
  requests: 7 * days,
  pendingLogins: 60 * minutes,
  cooldowns: 1 * days,
  mails: 30 * days,
} as const;

interface Rule extends OldRows {
  readonly seconds: number;
}

/**
 * What goes when: one line for each table that grows with use and has no door of its own for it. The tokens of a session need no rule of their own: none of
 * them expires after the first refresh token, whose row decides for all (ADR 0005).
 */
const rules: readonly Rule[] = [
  { table: 'login_tokens', key: 'jti', time: 'expires', seconds: keptSeconds.tokens },
  { table: 'user_change_password_request', key: 'uid', time: 'expired', seconds: keptSeconds.requests },
  { table: 'pending_logins', key: 'user_id', time: 'expires', seconds: keptSeconds.pendingLogins },
  // The gates of addresses that belong to nobody. Those of users (a uid has 36 characters) stay: there are as many as
  // users, and a gate that vanishes between its making and its taking would turn somebody away.
  {
    table: 'cooldowns',
    key: 'subject',
    time: 'until',
    only: 'LENGTH(subject) <> 36',
    seconds: keptSeconds.cooldowns,
  },
];

const logTables = ['login_logs', 'audit_logs'] as const;

/** Removes what has expired, so that no table grows for ever and no login feels it (decisions.md 10, T173). */
@Injectable()
export class Retention {
  constructor(
    private readonly database: Database,
    private readonly receipts: CaptchaReceipts,
    private readonly outbox: MailOutbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Several processes may run it at once, and it may be cut off at any time: each batch stands by itself.
   * @param logDays age in days at which log rows go
   * @returns how many rows of each table this call removed
   */
  async purge(logDays = defaultLogDays): Promise<Record<string, number>> {
    const logs = logTables.map((table) => ({ table, key: 'id', time: 'created_at', seconds: logDays * days }));
    const removed: Record<string, number> = {};
    for (const rule of [...rules, ...logs]) {
      removed[rule.table] = await removeOldRows(this.database, rule, this.ago(rule.seconds));
    }
    removed.captcha_receipts = await inBatches(() => this.receipts.purgeExpired(batchRows));
    removed.mail_outbox = await inBatches(() => this.outbox.purgeSettled(this.ago(keptSeconds.mails), batchRows));
    return removed;
  }

  private ago(seconds: number): Date {
    return this.clock.secondsFromNow(-seconds);
  }
}
