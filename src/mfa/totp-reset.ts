import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../audit/audit-trail';
import { TrustedDevices } from '../tokens/trusted-devices';
import { Database } from '../platform/database/database';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';
import { RecoveryCodeRows } from './recovery/recovery-code-rows';

/**
 * For a user who has lost the authenticator: removes the secret and any enrolment, and ends the recovery codes and the
 * trusted devices, which may be lost together with it. Codes are sent by mail again (ADR 0008).
 */
@Injectable()
export class TotpReset {
  constructor(
    private readonly database: Database,
    private readonly secondFactor: SecondFactor,
    private readonly recoveryCodes: RecoveryCodeRows,
    private readonly devices: TrustedDevices,
    private readonly audit: AuditTrail,
  ) {}

  async reset(user: User): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.secondFactor.lock(tx, user.uid);
      await this.secondFactor.removeSecret(tx, user.uid);
      await tx.affected('DELETE FROM totp_secrets WHERE user_id = ?', [user.uid]);
      const recovery_codes = await this.recoveryCodes.removeAll(tx, user.uid);
      const trusted_devices = await this.devices.endAll(tx, user.uid);
      await this.audit.record(tx, 'TOTP_RESET', { userId: user.uid, detail: { recovery_codes, trusted_devices } });
    });
  }
}
