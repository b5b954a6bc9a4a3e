import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { passwordPolicyViolated } from '../shared/errors/error-catalogue';
import { PasswordHasher } from '../hashing/password-hasher';
import { PasswordHistory } from '../users/password-change-log.repository';
import type { User } from '../users/user.entity';
import { PasswordChecks } from './password-checks';
import type { PasswordRule } from './password-policy';

/** Checks and hashes the new password of a user (docs/spec/decisions.md#password-policy). */
@Injectable()
export class NewPasswords {
  constructor(
    private readonly checks: PasswordChecks,
    private readonly history: PasswordHistory,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * The rules that can be judged before the owner is proven. The password is not normalised (ADR 0009).
   * @throws DomainError AUTH_400007
   */
  async assertAcceptable(password: string): Promise<void> {
    assertNone(await this.checks.brokenRules(password));
  }

  /**
   * All rules. Call it right after a link or a session has proven the owner (docs/spec/extensions.md#policy-keys).
   * @throws DomainError AUTH_400007
   */
  async assertAllowed(password: string, owner: User): Promise<void> {
    await this.assertAcceptable(password);
    assertNone(await this.checks.brokenRulesOfOwner(password, owner));
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

function assertNone(rules: readonly PasswordRule[]): void {
  if (rules.length > 0) throw new DomainError(passwordPolicyViolated, { rules });
}
