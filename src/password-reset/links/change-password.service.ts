import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import {
  passwordReused,
  passwordsDiffer,
  resetRequestUsed,
  resetTokenUnknown,
} from '../../shared/errors/error-catalogue';
import { Cooldowns } from '../../platform/database/cooldown.repository';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { NewPasswords } from '../new-passwords';
import { PasswordChange } from '../password-change';
import { PasswordChangeRequests } from '../password-change-requests';
import type { FoundRequest } from '../persistence/password-change-request.repository';

export interface ChangePassword {
  readonly token: string;
  readonly password: string;
  readonly confirmation: string;
}

/** `POST /user/change-pwd-by-req`: the steps of docs/spec/service.md#4.11. A refusal does not use up the link. */
@Injectable()
export class ChangePasswordService {
  constructor(
    private readonly requests: PasswordChangeRequests,
    private readonly users: UsersRepository,
    private readonly newPasswords: NewPasswords,
    private readonly passwordChange: PasswordChange,
    private readonly cooldowns: Cooldowns,
  ) {}

  async change(command: ChangePassword, client: ClientInfo): Promise<void> {
    assertSame(command); //                                            1 AUTH_401010
    await this.newPasswords.assertAcceptable(command.password); //     2 AUTH_400007
    const request = await this.requests.find(command.token); //        3 AUTH_401003, 401007, 401005
    const user = await this.userOf(request); //                        4 AUTH_401003
    await this.newPasswords.assertAllowed(command.password, user); //  5 AUTH_400007
    await this.assertNotReused(user, command, client); //              6 AUTH_401009
    await this.store(command, request, user, client); //               7 one transaction
  }

  /** The status is not checked: a user who was disabled later may use an older link, and stays disabled (ADR 0009). */
  private async userOf(request: FoundRequest): Promise<User> {
    const user = await this.users.findByUid(request.userId);
    if (user === null || user.provider !== 'password') throw new DomainError(resetTokenUnknown);
    return user;
  }

  private async assertNotReused(user: User, command: ChangePassword, client: ClientInfo): Promise<void> {
    if (!(await this.newPasswords.isReused(command.password, user, client))) return;
    // A parallel request with this link may have just set the same password. Then `find` throws AUTH_401007 (used).
    await this.requests.find(command.token);
    throw new DomainError(passwordReused);
  }

  /**
   * Other submissions of this link and newer change requests compete for the gate row. An operator who sets a password
   * competes for the `users` row. The first commit wins. The loser's transaction is rolled back, and its answer names
   * the current state of the link.
   */
  private async store(command: ChangePassword, request: FoundRequest, user: User, client: ClientInfo): Promise<void> {
    const hash = await this.newPasswords.hash(command.password, client);
    const { type, credentialVersion: issuedUnder } = request;
    const chosen = { hash, type, issuedUnder, mailed: this.requests.wasMailed(type, user) };
    await this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, async (tx) => {
      const won = (await this.requests.use(tx, request)) && (await this.passwordChange.write(tx, user, chosen, client));
      if (won) return;
      await this.requests.find(command.token, tx);
      throw new DomainError(resetRequestUsed);
    });
  }
}

function assertSame({ password, confirmation }: ChangePassword): void {
  if (password !== confirmation) throw new DomainError(passwordsDiffer);
}
