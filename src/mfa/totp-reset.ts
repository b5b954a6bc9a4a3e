import { Injectable } from '@nestjs/common';
import { TrustedDevices } from '../sessions/trusted-devices';
import type { Transaction } from '../platform/database/database';
import { SecondFactor } from '../users/second-factor';
import { RecoveryCodeRows } from './persistence/recovery-code.repository';
import { TotpSecrets } from './persistence/totp-secret.repository';

/**
 * For a user who has lost the authenticator: removes the secret and any enrolment, and ends the recovery codes and the
 * trusted devices, which may be lost together with it. Codes are sent by mail again (ADR 0008).
 */
@Injectable()
export class TotpReset {
  constructor(
    private readonly secondFactor: SecondFactor,
    private readonly secrets: TotpSecrets,
    private readonly recoveryCodes: RecoveryCodeRows,
    private readonly devices: TrustedDevices,
  ) {}

  /** The transaction must hold the row of the user. @returns the counts for the audit row of the caller */
  async reset(tx: Transaction, uid: string): Promise<{ recovery_codes: number; trusted_devices: number }> {
    await this.secondFactor.removeSecret(tx, uid);
    await this.secrets.removeAll(tx, uid);
    const recovery_codes = await this.recoveryCodes.removeAll(tx, uid);
    return { recovery_codes, trusted_devices: await this.devices.endAll(tx, uid) };
  }
}
