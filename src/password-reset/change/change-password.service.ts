import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import {
  passwordPolicyViolated,
  passwordReused,
  passwordsDiffer,
  resetRequestUsed,
  resetTokenUnknown,
} from '../../shared/errors/error-catalogue';
import { AuditTrail } from '../../audit/audit-trail';
import { Mailer } from '../../mail/mailer';
import { Cooldowns } from '../../platform/database/cooldowns';
import type { Transaction } from '../../platform/database/database';
import { PendingLogins } from '../../tokens/pending-logins';
import { TokenRevoker } from '../../tokens/token-revoker';
import { isHashable, PasswordHasher } from '../../hashing/password-hasher';
import { PasswordHistory } from '../../users/password-history';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { FindChangeRequestService } from '../lookup/find-change-request.service';
import { meetsPolicy } from '../password-policy';
import { type FoundRequest, PasswordChangeRequestRepository } from '../persistence/password-change-request.repository';
import { PasswordPolicySource } from '../password-policy-source';

export interface ChangePassword {
  readonly token: string;
  readonly password: string;
  readonly confirmation: string;
}

/** `POST /user/change-pwd-by-req`: the steps of docs/spec/service.md#4.11. A refusal does not use up the link. */
@Injectable()
export class ChangePasswordService {
  constructor(
    private readonly links: FindChangeRequestService,
    private readonly requests: PasswordChangeRequestRepository,
    private readonly policies: PasswordPolicySource,
    private readonly users: UsersRepository,
    private readonly history: PasswordHistory,
    private readonly hasher: PasswordHasher,
    private readonly revoker: TokenRevoker,
    private readonly pendingLogins: PendingLogins,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly cooldowns: Cooldowns,
    private readonly clock: Clock,
  ) {}

  async change(command: ChangePassword, client: ClientInfo): Promise<void> {
    assertSame(command); //                                            1 AUTH_401010
    await this.assertAllowed(command.password); //                     2 AUTH_400007
    const request = await this.links.find(command.token); //           3 AUTH_401003, 401007, 401005
    const user = await this.userOf(request); //                        4 AUTH_401003
    await this.assertNotReused(user, command, client); //              5 AUTH_401009
    await this.store(command, request, user, client); //               6 one transaction
  }

  /** Also refuses what bcrypt would truncate (docs/spec/attacks.md#w21). The password is not normalised (ADR 0009). */
  private async assertAllowed(password: string): Promise<void> {
    const policy = await this.policies.current();
    if (!isHashable(password) || !meetsPolicy(password, policy)) throw new DomainError(passwordPolicyViolated);
  }

  /** The status is not checked: a user who was disabled later may use an older link, and stays disabled (ADR 0009). */
  private async userOf(request: FoundRequest): Promise<User> {
    const user = await this.users.findByUid(request.userId);
    if (user === null || user.provider !== 'password') throw new DomainError(resetTokenUnknown);
    return user;
  }

  private async assertNotReused(user: User, command: ChangePassword, client: ClientInfo): Promise<void> {
    for (const hash of await this.history.lastHashes(user)) {
      if (!(await this.hasher.matches(command.password, hash, client))) continue;
      // A parallel submit of this link may have just set the same password. Then `find` throws AUTH_401007 (used).
      await this.links.find(command.token);
      throw new DomainError(passwordReused);
    }
  }

  /** The hash is computed before the transaction: bcrypt must not hold a lock or a connection. */
  private async store(command: ChangePassword, request: FoundRequest, user: User, client: ClientInfo): Promise<void> {
    const hash = await this.hasher.hash(command.password, client);
    await this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, async (tx) => {
      await this.claim(tx, command.token, request, hash);
      await this.requests.closeAll(tx, user.uid);
      await this.history.append(tx, user.uid, request.type, hash);
      await this.pendingLogins.close(tx, user.uid);
      await this.revoker.markRevoked(tx, user.uid);
      await this.audit.record(tx, 'USER_PASSWORD_CHANGED', {
        userId: user.uid,
        client,
        detail: { type: request.type },
      });
      await this.notify(tx, user, client);
    });
  }

  /**
   * Racers: other submits of this link and newer requests (both wait for the same gate row), and an operator who sets
   * a password (on the users row). The first commit wins. The loser's transaction is rolled back, and its answer names
   * the current state of the link.
   */
  private async claim(tx: Transaction, token: string, request: FoundRequest, hash: string): Promise<void> {
    const won =
      (await this.requests.consume(tx, request.uid)) &&
      (await this.users.setPassword(tx, request.userId, hash, {
        temporary: false,
        issuedUnder: request.credentialVersion,
      }));
    if (won) return;
    await this.links.find(token, tx);
    throw new DomainError(resetRequestUsed);
  }

  private async notify(tx: Transaction, { email, nickname }: User, client: ClientInfo): Promise<void> {
    if (email === null) return;
    const { language, ip } = client;
    await this.mailer.queuePasswordChanged(tx, { to: email, nickname, language, ip, at: this.clock.now() });
  }
}

function assertSame({ password, confirmation }: ChangePassword): void {
  if (password !== confirmation) throw new DomainError(passwordsDiffer);
}
