import { Injectable } from '@nestjs/common';
import { LoginNames } from '../audit/login-names';
import { CaptchaReceipts } from '../captcha/captcha-receipt.repository';
import { EventOutbox } from '../events/event-outbox';
import { MailOutbox } from '../mail/mail-outbox';
import { Database } from '../platform/database/database';
import { Clock } from '../shared/clock';
import { SessionUses } from '../sessions/session-uses';
import { tombstoneName, UserTombstones } from '../users/user-tombstones';
import { batchRows, inBatches, type OldRows, removeOldRows } from './sweep/old-rows';

/** Default number of days that `login_logs` and `audit_logs` are kept: a year and a month. */
export const defaultLogDays = 400;

const minutes = 60;
const days = 24 * 60 * minutes;

/**
 * How long expired rows are kept. A kept row gives the answer "expired" instead of "unknown", and a replica whose clock
 * is behind may still need it. For tokens an hour is enough: the `exp` of a token is checked before its row.
 */
const keptSeconds = {
  tokens: 60 * minutes,
  requests: 7 * days,
  pendingLogins: 60 * minutes,
  challenges: 60 * minutes,
  devices: 1 * days,
  cooldowns: 1 * days,
  mails: 30 * days,
  events: 30 * days,
} as const;

interface Rule extends OldRows {
  readonly seconds: number;
}

/**
 * Rows of `login_tokens` can be deleted one by one: no token of a session expires after its first refresh token, whose
 * row decides for the session (ADR 0005).
 */
const tokens: Rule = { table: 'login_tokens', key: 'jti', time: 'expires', seconds: keptSeconds.tokens };

/** One rule for each other table that grows with use and whose module has no purge method. */
const rules: readonly Rule[] = [
  { table: 'user_change_password_request', key: 'uid', time: 'expired', seconds: keptSeconds.requests },
  { table: 'pending_logins', key: 'user_id', time: 'expires', seconds: keptSeconds.pendingLogins },
  { table: 'passkey_challenges', key: 'challenge_hash', time: 'expires', seconds: keptSeconds.challenges },
  { table: 'trusted_devices', key: 'id', time: 'expires', seconds: keptSeconds.devices },
  // Only rows whose subject is a keyed hash: e-mail addresses and login names without a user. Gate rows of users (a uid
  // has 36 characters) stay, because their number is bounded by the number of users. If a gate row were deleted between
  // its creation and its lock, the request would fail.
  {
    table: 'cooldowns',
    key: 'subject',
    time: 'until',
    only: 'LENGTH(subject) <> 36',
    seconds: keptSeconds.cooldowns,
  },
];

const logTables = ['login_logs', 'audit_logs'] as const;

/** Deletes expired rows in batches, so that tables stay bounded and logins stay fast (docs/spec/attacks.md#w50). */
@Injectable()
export class Retention {
  constructor(
    private readonly database: Database,
    private readonly receipts: CaptchaReceipts,
    private readonly outbox: MailOutbox,
    private readonly events: EventOutbox,
    private readonly sessionUses: SessionUses,
    private readonly tombstones: UserTombstones,
    private readonly loginNames: LoginNames,
    private readonly clock: Clock,
  ) {}

  /**
   * Several processes may purge at the same time, and a purge may be interrupted at any time: each batch commits alone.
   * @param logDays age in days at which log rows are deleted
   * @returns the number of rows that this call deleted, by table
   */
  async purge(logDays = defaultLogDays): Promise<Record<string, number>> {
    const logs = logTables.map((table) => ({ table, key: 'id', time: 'created_at', seconds: logDays * days }));
    const removed: Record<string, number> = {};
    const sessions = { ...tokens, before: (jtis: readonly string[]) => this.sessionUses.keep(jtis) };
    // What identifies a known browser comes from the login logs, so it is not kept longer than they are.
    const browsers = { table: 'known_browsers', key: 'user_id', time: 'seen_at', seconds: logDays * days };
    for (const rule of [sessions, ...rules, ...logs, browsers]) {
      removed[rule.table] = await removeOldRows(this.database, rule, this.ago(rule.seconds));
    }
    removed.captcha_receipts = await inBatches(() => this.receipts.purgeExpired(batchRows));
    removed.mail_outbox = await inBatches(() => this.outbox.purgeSettled(this.ago(keptSeconds.mails), batchRows));
    removed.event_outbox = await inBatches(() => this.events.purgeOld(this.ago(keptSeconds.events), batchRows));
    await inBatches(() => this.outbox.forgetExpired(batchRows));
    await this.finishErasures();
    return removed;
  }

  /** Erases what a login wrote that was under way when its user was deleted, and what a crash has left. */
  private async finishErasures(): Promise<void> {
    for (let uids = await this.tombstones.unsettled(batchRows); uids.length > 0;) {
      for (const uid of uids) {
        await this.loginNames.replaceAll(uid, tombstoneName(uid));
        await this.outbox.forgetUser(this.database, uid);
        await this.events.forgetUser(uid);
        await this.tombstones.settle(uid);
      }
      uids = await this.tombstones.unsettled(batchRows);
    }
  }

  private ago(seconds: number): Date {
    return this.clock.secondsFromNow(-seconds);
  }
}
