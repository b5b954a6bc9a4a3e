import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked } from '../../shared/errors/error-catalogue';
import { AuditTrail } from '../../audit/audit-trail';
import { PasswordHasher } from '../../hashing/password-hasher';
import { Database } from '../../platform/database/database';
import { LoginLock } from '../../users/login-lock';
import type { User } from '../../users/user.entity';

/**
 * Asks a user who is signed in for the password again. A wrong one is a failed login, so that the thief of an access
 * token has no more guesses here and at `/login` together than at `/login` alone (docs/spec/extensions.md#change-password).
 */
@Injectable()
export class CurrentPassword {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly lock: LoginLock,
    private readonly database: Database,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Race: parallel guesses, here and at `/login`, on any replica. The guarded writes of the lock decide after the
   * comparison, so a right guess after the lock is refused like a wrong one.
   * @throws DomainError LOGIN_401004, LOGIN_401001; AUTH_401004 when the account has changed since the user was read
   */
  async assertMatches(user: User, typed: string, client: ClientInfo): Promise<void> {
    this.lock.assertOpen(user);
    if (!(await this.hasher.matches(typed, user.password, client))) {
      await this.audit.record(this.database, 'CURRENT_PASSWORD_WRONG', { userId: user.uid, client });
      await this.lock.recordFailure(user);
    }
    if (!(await this.lock.recordConfirmation(user))) throw new DomainError(accessTokenRevoked);
  }
}
