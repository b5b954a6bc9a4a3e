import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../../shared/errors/domain-error';
import { accountLocked, loginFailed } from '../../../../shared/errors/error-catalogue';
import { LockSettings } from '../../../../users/account-settings';
import { KeyRing } from '../../../../platform/crypto/key-ring';
import { Cooldowns } from '../../../../platform/database/cooldown.repository';

/** The most guesses for one name when `MAX_LOCK_COUNT` is larger. A directory locks an account after fewer failures. */
const mostCooldowns = 20;

/**
 * The lock for names without a row in `users`. With just-in-time provisioning, the passwords of such names could
 * otherwise be guessed without a limit. Each name has `MAX_LOCK_COUNT` cooldowns, and each wrong guess starts one of
 * them for `USER_LOCK_TIME` seconds. The cooldowns are in the database, so all replicas share them. They contain a
 * keyed hash of the name, not the name.
 */
@Injectable()
export class UnknownGuesses {
  constructor(
    private readonly cooldowns: Cooldowns,
    private readonly keys: KeyRing,
    private readonly settings: LockSettings,
  ) {}

  /** @returns the number of guesses that are left. @throws DomainError LOGIN_401004 when none is left */
  async left(nameKey: string): Promise<number> {
    const subjects = this.subjectsOf(nameKey);
    const left = subjects.length - (await this.cooldowns.running('ldap', subjects));
    if (left <= 0) throw new DomainError(accountLocked);
    return left;
  }

  /**
   * Starts one cooldown of the name.
   * @throws DomainError LOGIN_401001, or LOGIN_401004 when parallel guesses on any replica have started all cooldowns
   */
  async recordFailure(nameKey: string): Promise<never> {
    for (const subject of this.subjectsOf(nameKey)) {
      const started = await this.cooldowns.start({
        kind: 'ldap',
        subject,
        seconds: this.settings.windowSeconds,
      });
      if (started) throw new DomainError(loginFailed);
    }
    throw new DomainError(accountLocked);
  }

  private subjectsOf(nameKey: string): string[] {
    const count = Math.min(this.settings.maxCount, mostCooldowns);
    return Array.from({ length: count }, (_, n) => this.keys.mac('ldap-guess', `${n}:${nameKey}`));
  }
}
