import { Injectable } from '@nestjs/common';
import { type ChangedOwner, Mailer } from '../mail/mailer';
import { TrustedDevices } from '../sessions/trusted-devices';
import type { Transaction } from '../platform/database/database';
import type { Language } from '../shared/languages';
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
    private readonly mailer: Mailer,
  ) {}

  /**
   * Tells the owner, unless there was nothing to remove. The transaction must hold the row of the user.
   * Race: two resets of one user run one after the other, and the second one finds nothing. So there is one mail.
   * @returns the counts for the audit row of the caller
   */
  async reset(
    tx: Transaction,
    owner: ChangedOwner,
    language?: Language,
  ): Promise<{ recovery_codes: number; trusted_devices: number }> {
    const { uid } = owner;
    const secret = await this.secondFactor.removeSecret(tx, uid);
    await this.secrets.removeAll(tx, uid);
    const recovery_codes = await this.recoveryCodes.removeAll(tx, uid);
    const trusted_devices = await this.devices.endAll(tx, uid);
    if (secret || recovery_codes + trusted_devices > 0) {
      await this.mailer.queueAccountChanged(tx, owner, { change: 'secondFactorReset', by: 'administrator', language });
    }
    return { recovery_codes, trusted_devices };
  }
}
