import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { isHashable, PasswordHasher } from '../../../hashing/password-hasher';
import { DomainError } from '../../../shared/errors/domain-error';
import { serviceUnavailable } from '../../../shared/errors/error-catalogue';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import type { LoginCommand } from '../login-command';
import type { CredentialProof, CredentialVerifier } from './credential-verifier';
import { LegacyPasswords } from './legacy-passwords';

/**
 * Compares the password with the hash in `users.password`, or asks the old system where it has the only one. An unknown name takes the same work
 * (docs/spec/attacks.md#w12).
 */
@Injectable()
export class PasswordVerifier implements CredentialVerifier {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly users: UsersRepository,
    private readonly lock: LoginLock,
    private readonly legacy: LegacyPasswords,
  ) {}

  async assertMatches(user: User, { password }: LoginCommand, client: ClientInfo): Promise<CredentialProof> {
    if (this.legacy.isAskedFor(user)) await this.legacy.assertMatches(user, password, client);
    else if (!(await this.hasher.matches(password, user.password, client))) await this.lock.recordFailure(user);
    return { user };
  }

  async resolveUnknown({ password }: LoginCommand, client: ClientInfo): Promise<null> {
    await this.hasher.matches(password, null, client);
    return null;
  }

  /**
   * Replaces a hash of a lower cost or of another system. Such a system may have taken a password that bcrypt would
   * truncate: its hash stays until the password changes. Where there is no hash, the password has to change now. When nothing
   * can be hashed now (a full queue, a client that has disconnected, no thread), the next login does it: this login has already
   * succeeded and must not fail here. A weak password of the old system has to change first all the same.
   */
  async renew({ user }: CredentialProof, { password }: LoginCommand, client: ClientInfo): Promise<User> {
    const isLegacy = this.legacy.isAskedFor(user);
    if (!isLegacy && (user.password === null || !this.hasher.needsRenewal(user.password))) return user;
    if (!isHashable(password)) return isLegacy ? this.legacy.demandAnother(user) : user;
    const hash = await this.hasher.hash(password, client).catch((error: unknown) => {
      if (error instanceof DomainError && error.entry === serviceUnavailable) return undefined;
      throw error;
    });
    if (hash === undefined) return isLegacy ? this.legacy.postpone(user, password) : user;
    if (isLegacy) return this.legacy.adopt(user, password, hash, client);
    await this.users.renewHash(user, hash);
    return user;
  }
}
