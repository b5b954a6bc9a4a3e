import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { AuditTrail } from '../audit/audit-trail';
import { Mailer } from '../mail/mailer';
import { Database, type Transaction } from '../platform/database/database';
import type { CurrentSession } from '../sessions/current-session';
import { UserSessions } from '../sessions/user-sessions';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';
import { canonicalRecoveryCode, codesAtATime, newRecoveryCode } from './codes/recovery-code';
import { RecoveryCodeRows, type RecoveryCodeSummary } from './persistence/recovery-code.repository';

/** Codes that replace a lost phone, each of them once (docs/spec/extensions.md#recovery-codes). */
@Injectable()
export class RecoveryCodes {
  constructor(
    private readonly database: Database,
    private readonly rows: RecoveryCodeRows,
    private readonly sessions: UserSessions,
    private readonly secondFactor: SecondFactor,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  /**
   * `POST /recovery-codes`: makes new codes, which are shown once and replace all earlier ones.
   * Races with a logout, a password change and a disabling: if one of them commits first, no code is made. Parallel
   * requests of one user run one after the other, and the codes of the last one are valid.
   * @throws DomainError AUTH_401004 when the session has ended since its token was checked
   */
  async make(session: CurrentSession, client: ClientInfo): Promise<string[]> {
    const { user } = session;
    const codes = Array.from({ length: codesAtATime }, () => newRecoveryCode(this.random));
    await this.database.transaction(async (tx) => {
      await this.sessions.hold(tx, session);
      await this.rows.replaceAll(tx, user.uid, codes.map(canonicalRecoveryCode) as string[]);
      await this.audit.record(tx, 'RECOVERY_CODES_CREATED', { userId: user.uid, client });
      const notice = this.noticeTo(user, client);
      if (notice !== undefined) await this.mailer.queueRecoveryCodesMade(tx, notice);
    });
    return codes;
  }

  summary(userId: string): Promise<RecoveryCodeSummary> {
    return this.rows.summary(this.database, userId);
  }

  /** Spends the code in the transaction that opens the session, and tells the owner how many codes are left. */
  async spend(tx: Transaction, user: User, id: string, client: ClientInfo): Promise<boolean> {
    if (!(await this.rows.spend(tx, id))) return false;
    const { left } = await this.rows.summary(tx, user.uid);
    await this.audit.record(tx, 'RECOVERY_CODE_USED', { userId: user.uid, client, detail: { left } });
    const notice = this.noticeTo(user, client);
    if (notice !== undefined) await this.mailer.queueRecoveryCodeUsed(tx, { ...notice, left });
    return true;
  }

  /** Ends all codes of a user for an operator, and tells the owner. @returns how many unspent codes it has ended */
  revoke(owner: User): Promise<number> {
    const { uid } = owner;
    return this.database.transaction(async (tx) => {
      await this.secondFactor.lock(tx, uid);
      const revoked = await this.rows.removeAll(tx, uid);
      await this.audit.record(tx, 'RECOVERY_CODES_REVOKED', { userId: uid, detail: { revoked } });
      if (revoked > 0)
        await this.mailer.queueAccountChanged(tx, owner, { change: 'recoveryCodesRemoved', by: 'administrator' });
      return revoked;
    });
  }

  private noticeTo({ uid, loginName, email }: Pick<User, 'uid' | 'loginName' | 'email'>, client: ClientInfo) {
    if (email === null) return undefined;
    const { language, ip } = client;
    return { userId: uid, to: email, loginName, language, ip, at: this.clock.now() };
  }
}
