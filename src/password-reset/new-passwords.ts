import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { passwordPolicyViolated } from '../shared/errors/error-catalogue';
import { isHashable, PasswordHasher } from '../hashing/password-hasher';
import { PasswordHistory } from '../users/password-history';
import type { User } from '../users/user.entity';
import { meetsPolicy } from './password-policy';
import { PasswordPolicySource } from './password-policy-source';

/** Checks and hashes the new password of a user (docs/spec/decisions.md#password-policy). */
@Injectable()
export class NewPasswords {
  constructor(
    private readonly policies: PasswordPolicySource,
    private readonly history: PasswordHistory,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * Also refuses a password that bcrypt would truncate (docs/spec/attacks.md#w21). It is not normalised (ADR 0009).
   * @throws DomainError AUTH_400007
   */
  async assertAllowed(password: string): Promise<void> {
    const policy = await this.policies.current();
    if (!isHashable(password) || !meetsPolicy(password, policy)) throw new DomainError(passwordPolicyViolated);
  }

  /** True for the current password and for the last `PASSWORD_HISTORY` ones. */
  async isReused(password: string, user: User, client: ClientInfo): Promise<boolean> {
    for (const hash of await this.history.lastHashes(user)) {
      if (await this.hasher.matches(password, hash, client)) return true;
    }
    return false;
  }

  /** Call it before the transaction: bcrypt must not hold a lock or a connection. */
  hash(password: string, client: ClientInfo): Promise<string> {
    return this.hasher.hash(password, client);
  }
}
