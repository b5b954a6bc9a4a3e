import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { HashQueueFull, isHashable, PasswordHasher } from '../../../hashing/password-hasher';
import { ClientGone } from '../../../shared/errors/client-gone';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import type { LoginCommand } from '../login-command';
import { type CredentialProof, CredentialVerifier } from './credential-verifier';

/**
 * Compares the password with the hash in `users.password`. An unknown name takes the same work
 * (docs/spec/attacks.md#w12).
 */
@Injectable()
export class PasswordVerifier extends CredentialVerifier {
  readonly provider = 'password';

  constructor(
    private readonly hasher: PasswordHasher,
    private readonly users: UsersRepository,
    private readonly lock: LoginLock,
  ) {
    super();
  }

  assertCapacity(client: ClientInfo): void {
    this.hasher.assertCapacity(client);
  }

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
   * truncate: its hash stays until the password changes. When the queue is full or the client has disconnected, this login keeps the hash
   * and the next login replaces it: this login has already succeeded and must not fail here.
   */
  async renew({ user }: CredentialProof, { password }: LoginCommand, client: ClientInfo): Promise<User> {
    if (user.password === null || !isHashable(password) || !this.hasher.needsRenewal(user.password)) return user;
    try {
      await this.users.renewHash(user, await this.hasher.hash(password, client));
    } catch (error) {
      if (!(error instanceof HashQueueFull || error instanceof ClientGone)) throw error;
    }
    return user;
  }
}
