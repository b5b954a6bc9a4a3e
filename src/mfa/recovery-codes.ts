import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { AuditTrail } from '../audit/audit-trail';
import { Mailer } from '../mail/mailer';
import { Database, type Transaction } from '../platform/database/database';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';
import { RecoveryCodeRows, type RecoveryCodeSummary } from './persistence/recovery-code.repository';

/** Codes that replace a lost phone, each of them once (docs/spec/extensions.md#recovery-codes). */
@Injectable()
export class RecoveryCodes {
  constructor(
    private readonly database: Database,
    private readonly rows: RecoveryCodeRows,
    private readonly secondFactor: SecondFactor,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  summary(userId: string): Promise<RecoveryCodeSummary> {
    return this.rows.summary(this.database, userId);
  }

  /** Spends the code in the transaction that opens the session, and tells the owner how many codes are left. */
  async spend(tx: Transaction, user: User, id: string, client: ClientInfo): Promise<boolean> {
    if (!(await this.rows.spend(tx, id))) return false;
    const { left } = await this.rows.summary(tx, user.uid);
    await this.audit.record(tx, 'RECOVERY_CODE_USED', { userId: user.uid, client, detail: { left } });
    if (user.email !== null) {
      const { uid: userId, email: to, nickname } = user;
      const { language, ip } = client;
      await this.mailer.queueRecoveryCodeUsed(tx, { userId, to, nickname, language, ip, at: this.clock.now(), left });
    }
    return true;
  }

  /** Ends all codes of a user for an operator. @returns how many unspent codes it has ended */
  revoke({ uid }: User): Promise<number> {
    return this.database.transaction(async (tx) => {
      await this.secondFactor.lock(tx, uid);
      const revoked = await this.rows.removeAll(tx, uid);
      await this.audit.record(tx, 'RECOVERY_CODES_REVOKED', { userId: uid, detail: { revoked } });
      return revoked;
    });
  }
}
