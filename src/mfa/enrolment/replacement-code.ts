import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import type { Transaction } from '../../platform/database/database';
import { SecondFactor } from '../../users/second-factor';
import type { User } from '../../users/user.entity';
import { CodeAttempts, codeRefused } from '../codes/code-attempts';
import { TotpSecrets } from '../persistence/totp-secret.repository';
import { ActiveSecret } from '../totp/active-secret';

/**
 * The code of the active authenticator that a replacement requires. The thief of an access token must not be able to
 * replace the owner's authenticator (docs/spec/attacks.md#w45).
 */
@Injectable()
export class ReplacementCode {
  constructor(
    private readonly attempts: CodeAttempts,
    private readonly activeSecret: ActiveSecret,
    private readonly secondFactor: SecondFactor,
    private readonly secrets: TotpSecrets,
  ) {}

  /**
   * @param replace runs in the transaction that accepts the code, after the code is spent
   * @throws DomainError AUTH_MFA_401001 for a wrong or missing code, or when the attempts are used up
   */
  async spend(
    user: User,
    code: string | undefined,
    client: ClientInfo,
    replace: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    if (code === undefined) throw codeRefused('totp');
    const guess = await this.attempts.reserve({ user, type: 'totp', purpose: 'replacement', client }, () =>
      Promise.resolve('granted'),
    );
    const step = await this.activeSecret.newStepOf(code, user);
    if (step === null) return this.attempts.settle(guess, undefined);
    await this.attempts.settle(guess, async (tx) => {
      const accepted =
        (await this.secondFactor.acceptCode(tx, user)) && (await this.secrets.useStep(tx, user.uid, step));
      if (!accepted) return undefined;
      await replace(tx);
      return true;
    });
  }
}
