import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../shared/clock';
import { DomainError } from '../../../../shared/errors/domain-error';
import { accountLocked, loginFailed } from '../../../../shared/errors/error-catalogue';
import { AppConfig } from '../../../../platform/config/app-config';
import { KeyRing } from '../../../../platform/crypto/key-ring';
import { Cooldowns } from '../../../../platform/database/cooldowns';
import { Database } from '../../../../platform/database/database';

/** A lock that opens later than this is no lock of the directory's either. */
const mostGates = 20;

/**
 * The lock for names that have no row yet: where users are provisioned just in time, their passwords could otherwise be
 * guessed without end. `MAX_LOCK_COUNT` gates a name, each closed by a wrong guess for `USER_LOCK_TIME`, in the database
 * and so over all replicas; the names are kept as keyed hashes.
 */
@Injectable()
export class UnknownGuesses {
  constructor(
    private readonly cooldowns: Cooldowns,
    private readonly database: Database,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** How many guesses are left. @throws DomainError LOGIN_401004 when none is. */
  async left(nameKey: string): Promise<number> {
    const gates = this.gatesOf(nameKey);
    const row = await this.database.row<{ n: number }>(
      `SELECT COUNT(*) AS n FROM cooldowns WHERE kind = 'ldap' AND until > ? AND subject IN (${gates.map(() => '?').join(', ')})`,
      [this.clock.now(), ...gates],
    );
    const left = gates.length - Number(row?.n);
    if (left <= 0) throw new DomainError(accountLocked);
    return left;
  }

  /** Closes one gate: LOGIN_401001, or LOGIN_401004 where parallel guesses, on any replica, had closed the last one. */
  async recordFailure(nameKey: string): Promise<never> {
    for (const gate of this.gatesOf(nameKey)) {
      const closed = await this.cooldowns.start({
        kind: 'ldap',
        subject: gate,
        seconds: this.config.lock.windowSeconds,
      });
      if (closed) throw new DomainError(loginFailed);
    }
    throw new DomainError(accountLocked);
  }

  private gatesOf(nameKey: string): string[] {
    const count = Math.min(this.config.lock.maxCount, mostGates);
    return Array.from({ length: count }, (_, n) => this.keys.mac('ldap-guess', `${n}:${nameKey}`));
  }
}
