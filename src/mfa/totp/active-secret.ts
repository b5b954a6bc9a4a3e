import { Injectable } from '@nestjs/common';
import type { User } from '../../users/user.entity';
import { TotpSecrets } from '../persistence/totp-secrets';
import { SealedTotp } from './sealed-totp';
import { TotpCodes } from './totp-codes';

/** Codes of the secret in force, `users.topt_secret`: each step once, and never an earlier one again (RFC 6238 §5.2). */
@Injectable()
export class ActiveSecret {
  constructor(
    private readonly codes: TotpCodes,
    private readonly secrets: TotpSecrets,
    private readonly sealed: SealedTotp,
  ) {}

  /**
   * The step whose code this is, when it is later than the last one used; null otherwise. Not a verdict yet: of the racers
   * that read the same last step, `TotpSecrets.useStep` lets one pass.
   */
  async newStepOf(code: string, user: User, now: Date): Promise<number | null> {
    if (user.totpSecret === null) return null;
    const step = this.codes.stepOf(code, this.sealed.openSecret(user.totpSecret), now);
    const row = await this.secrets.find(user.uid);
    return step !== null && row !== null && step > row.lastUsedStep ? step : null;
  }
}
