import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { PasswordHasher } from '../../../users/password-hasher';
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
  ) {
    super();
  }

  async matches(user: User, { password }: LoginCommand, client: ClientInfo): Promise<boolean> {
    const right = await this.hasher.matches(password, user.password, client.ip);
    if (right && user.password !== null && this.hasher.needsRenewal(user.password)) {
      await this.users.renewHash(user, await this.hasher.hash(password, client.ip));
    }
    return right;
  }

  async resolveUnknown({ password }: LoginCommand, client: ClientInfo): Promise<null> {
    await this.hasher.matches(password, null, client.ip);
    return null;
  }
}
