import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { AuditTrail } from '../../audit/audit-trail';
import { Mailer } from '../../mail/mailer';
import { Database, type Transaction } from '../../platform/database/database';
import type { CurrentSession } from '../../sessions/current-session';
import { UserSessions } from '../../sessions/user-sessions';
import { canonicalRecoveryCode, codesAtATime, newRecoveryCode } from './recovery-code';
import { RecoveryCodeRows } from '../persistence/recovery-code.repository';

/** `POST /recovery-codes`: makes new codes, which are shown once and replace all earlier ones. */
@Injectable()
export class NewRecoveryCodes {
  constructor(
    private readonly database: Database,
    private readonly rows: RecoveryCodeRows,
    private readonly sessions: UserSessions,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  /**
   * Races with a logout, a password change and a disabling: if one of them commits first, no code is made. Parallel
   * requests of one user run one after the other, and the codes of the last one are valid.
   * @throws DomainError AUTH_401004 when the session has ended since its token was checked
   */
  async make(session: CurrentSession, client: ClientInfo): Promise<string[]> {
    const codes = Array.from({ length: codesAtATime }, () => newRecoveryCode(this.random));
    await this.database.transaction(async (tx) => {
      await this.sessions.hold(tx, session);
      await this.rows.replaceAll(tx, session.user.uid, codes.map(canonicalRecoveryCode) as string[]);
      await this.tell(tx, session, client);
    });
    return codes;
  }

  private async tell(tx: Transaction, { user }: CurrentSession, client: ClientInfo): Promise<void> {
    await this.audit.record(tx, 'RECOVERY_CODES_CREATED', { userId: user.uid, client });
    if (user.email === null) return;
    const { uid: userId, email: to, nickname } = user;
    const { language, ip } = client;
    await this.mailer.queueRecoveryCodesMade(tx, { userId, to, nickname, language, ip, at: this.clock.now() });
  }
}
