import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import type { User } from '../../users/user.entity';
import { TotpSecrets } from '../persistence/totp-secret.repository';
import { SealedTotp } from './sealed-totp';
import { TotpCodes } from './totp-codes';

/** Codes of the active secret, `users.topt_secret`. Each accepted step is later than the last (RFC 6238 §5.2). */
@Injectable()
export class ActiveSecret {
  constructor(
    private readonly codes: TotpCodes,
    private readonly secrets: TotpSecrets,
    private readonly sealed: SealedTotp,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the step of this code when it is later than the last used step, otherwise null. This method only reads. Of
   * parallel requests with the same code, `TotpSecrets.useStep` lets one pass.
   */
  async newStepOf(code: string, user: User): Promise<number | null> {
    if (user.totpSecret === null) return null;
    const step = this.codes.stepOf(code, this.sealed.openSecret(user.totpSecret), this.clock.now());
    const row = await this.secrets.find(user.uid);
    return step !== null && row !== null && step > row.lastUsedStep ? step : null;
  }
}
