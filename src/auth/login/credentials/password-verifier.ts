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

/**
 * Compares the password with the hash in `users.password`. An unknown name takes the same work
 * (docs/spec/attacks.md#w12).
 */
@Injectable()
export class PasswordVerifier implements CredentialVerifier {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly users: UsersRepository,
    private readonly lock: LoginLock,
  ) {}

  async assertMatches(user: User, { password }: LoginCommand, client: ClientInfo): Promise<CredentialProof> {
    if (!(await this.hasher.matches(password, user.password, client))) await this.lock.recordFailure(user);
    return { user };
  }

  async resolveUnknown({ password }: LoginCommand, client: ClientInfo): Promise<null> {
    await this.hasher.matches(password, null, client);
    return null;
  }

  /**
   * Replaces a hash of a lower cost or of another system. Such a system may have taken a password that bcrypt would
   * truncate: its hash stays until the password changes. When nothing can be hashed now (a full queue, a client that has
   * disconnected, no thread), this login keeps the hash and the next login replaces it: this login has already succeeded
   * and must not fail here.
   */
  async renew({ user }: CredentialProof, { password }: LoginCommand, client: ClientInfo): Promise<User> {
    if (user.password === null || !isHashable(password) || !this.hasher.needsRenewal(user.password)) return user;
    const hash = await this.hasher.hash(password, client).catch((error: unknown) => {
      if (error instanceof DomainError && error.entry === serviceUnavailable) return undefined;
      throw error;
    });
    if (hash !== undefined) await this.users.renewHash(user, hash);
    return user;
  }
}
