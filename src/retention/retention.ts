import { Injectable } from '@nestjs/common';
import { oldLogouts, oldOidcRecords } from '../applications/application-traces';
import { oldLogs } from '../audit/log-tables';
import { CaptchaReceipts } from '../captcha/captcha-receipt.repository';
import { EventOutbox } from '../events/event-outbox';
import { oldReceiverEvents } from '../events/receiver-delivery';
import { oldExternalSignIns } from '../identity-providers/identity-provider-traces';
import { MailOutbox } from '../mail/mail-outbox';
import { oldOffboardings } from '../offboarding/offboarding-traces';
import { oldChallenges } from '../passkeys/passkey-traces';
import { oldChangeRequests } from '../password-reset/password-reset-traces';
import { Database } from '../platform/database/database';
import { day, oldCooldowns, type OldRows } from '../platform/database/old-rows';
import { UserTraces } from '../platform/database/user-traces';
import { settledSeconds } from '../platform/outbox/settled-rows';
import { Clock } from '../shared/clock';
import { oldBrowsers, oldDevices, oldPendingLogins, oldProofs, oldTokens } from '../sessions/old-rows';
import { SessionTraces } from '../sessions/session-traces';
import { UserTombstones } from '../users/user-tombstones';
import { batchRows, inBatches, removeOldRows, type SweptRows } from './sweep';

/** Default number of days that `login_logs` and `audit_logs` are kept: a year and a month. */
export const defaultLogDays = 400;

/** Deletes expired rows in batches, so that tables stay bounded and logins stay fast (docs/spec/attacks.md#w50). */
@Injectable()
export class Retention {
  /** One rule for each table that grows with use and whose module has no purge method. */
  private readonly rules: readonly (OldRows & SweptRows)[] = [
    { ...oldTokens, before: (jtis) => this.sessionTraces.beforePurge(jtis) },
    ...[oldChangeRequests, oldPendingLogins, oldChallenges, oldDevices, oldProofs, oldCooldowns],
    ...[oldOidcRecords, oldLogouts, oldExternalSignIns, oldOffboardings, oldReceiverEvents],
    ...oldLogs,
    oldBrowsers,
  ];

  constructor(
    private readonly database: Database,
    private readonly receipts: CaptchaReceipts,
    private readonly outbox: MailOutbox,
    private readonly events: EventOutbox,
    private readonly sessionTraces: SessionTraces,
    private readonly tombstones: UserTombstones,
    private readonly traces: UserTraces,
    private readonly clock: Clock,
  ) {}

  /**
   * Several processes may purge at the same time, and a purge may be interrupted at any time: each batch commits alone.
   * @param logDays age in days at which log rows are deleted
   * @returns the number of rows that this call deleted, by table
   */
  async purge(logDays = defaultLogDays): Promise<Record<string, number>> {
    const removed: Record<string, number> = {};
    for (const rule of this.rules) {
      const seconds = rule.seconds === 'logs' ? logDays * day : rule.seconds;
      removed[rule.table] = await removeOldRows(this.database, rule, this.ago(seconds));
    }
    removed.captcha_receipts = await inBatches(() => this.receipts.purgeExpired(batchRows));
    removed.mail_outbox = await inBatches(() => this.outbox.purgeSettled(this.ago(settledSeconds), batchRows));
    removed.event_outbox = await inBatches(() => this.events.purgeOld(this.ago(settledSeconds), batchRows));
    await inBatches(() => this.outbox.forgetExpired(batchRows));
    await this.finishErasures();
    return removed;
  }

  /** Erases what a login wrote that was under way when its user was deleted, and what a crash has left. */
  private async finishErasures(): Promise<void> {
    for (let uids = await this.tombstones.unsettled(batchRows); uids.length > 0;) {
      for (const uid of uids) {
        await this.traces.settle(uid);
        await this.tombstones.markSettled(uid);
      }
      uids = await this.tombstones.unsettled(batchRows);
    }
  }

  private ago(seconds: number): Date {
    return this.clock.secondsFromNow(-seconds);
  }
}
