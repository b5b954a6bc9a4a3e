import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { HashQueueFull, PasswordHasher } from '../../../hashing/password-hasher';
import { ClientGone } from '../../../shared/errors/client-gone';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import { CredentialVerifier, type LoginCommand } from './credential-verifier';

/** bcrypt against `users.password` (§2.1), with the same work for an unknown user (W12). */
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

  assertRoom(client: ClientInfo): void {
    this.hasher.assertRoom(client);
  }

  async assertMatches(user: User, { password }: LoginCommand, client: ClientInfo): Promise<void> {
    if (!(await this.hasher.matches(password, user.password, client))) await this.lock.recordFailure(user);
  }

  async resolveUnknown({ password }: LoginCommand, client: ClientInfo): Promise<null> {
    await this.hasher.matches(password, null, client);
    return null;
  }

  /**
   * A hash of a lower cost. Where too many hashes wait, or the client has gone, the next login does it: this one has
   * succeeded, and is not left half done.
   */
  async renew(user: User, { password }: LoginCommand, client: ClientInfo): Promise<void> {
    if (user.password === null || !this.hasher.needsRenewal(user.password)) return;
    try {
      await this.users.renewHash(user, await this.hasher.hash(password, client));
    } catch (error) {
      if (!(error instanceof HashQueueFull || error instanceof ClientGone)) throw error;
    }
  }
}
