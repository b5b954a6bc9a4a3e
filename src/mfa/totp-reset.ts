import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';

/** For a user who has lost the authenticator: removes the secret and any enrolment. Codes are sent by mail again. */
@Injectable()
export class TotpReset {
  constructor(
    private readonly database: Database,
    private readonly secondFactor: SecondFactor,
    private readonly audit: AuditTrail,
  ) {}

  async reset(user: User): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.secondFactor.removeSecret(tx, user.uid);
      await tx.affected('DELETE FROM totp_secrets WHERE user_id = ?', [user.uid]);
      await this.audit.record(tx, 'TOTP_RESET', { userId: user.uid });
    });
  }
}
