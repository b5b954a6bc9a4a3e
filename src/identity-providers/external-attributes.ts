import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { identityKey } from '../shared/identity-key';
import { AuditTrail } from '../audit/audit-trail';
import { ExternalGroups } from './external-groups';
import type { ExternalPerson } from './external-sign-ins.repository';
import { Mailer } from '../mail/mailer';
import type { Transaction } from '../platform/database/database';
import { PendingLogins } from '../sessions/pending-login.repository';
import { DirectoryAccounts } from '../users/directory-accounts';
import type { User } from '../users/user.entity';
import { UsersOfProviders } from '../users/users-of-providers';
import { UsersRepository } from '../users/users.repository';

/** Writes what the claims of a sign-in say into the account: nickname, address and groups (docs/spec/extensions.md#k). */
@Injectable()
export class ExternalAttributes {
  constructor(
    private readonly accounts: DirectoryAccounts,
    private readonly users: UsersRepository,
    private readonly ofProviders: UsersOfProviders,
    private readonly groups: ExternalGroups,
    private readonly pendingLogins: PendingLogins,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
  ) {}

  /**
   * Runs in the transaction that opens the session, before the first row of the session: with a second factor of this service,
   * the account does not follow before that factor. A code by mail goes to the address of before (ADR 0036).
   * A claim that is missing changes nothing.
   */
  async follow(tx: Transaction, user: User, person: ExternalPerson, client: ClientInfo) {
    const { nickname, email, groups, vouched } = person;
    if (nickname !== null && nickname !== user.nickname) await this.followNickname(tx, user, nickname, client);
    if (email !== null && email !== user.email) await this.followEmail(tx, user, email, client);
    if (email !== null && vouched === true && user.provenEmailKey !== identityKey(email)) {
      await this.ofProviders.vouch(tx, user.uid, email);
    }
    if (groups !== null) await this.groups.follow(tx, user, user.identityProviderId!, groups);
  }

  /** @returns the account as an opened session has left it */
  async current(user: User, { nickname, email }: ExternalPerson): Promise<User> {
    const differs = (nickname ?? user.nickname) !== user.nickname || (email ?? user.email) !== user.email;
    return differs ? ((await this.users.findByUid(user.uid)) ?? user) : user;
  }

  private async followNickname(tx: Transaction, user: User, nickname: string, client: ClientInfo): Promise<void> {
    if (await this.accounts.setNickname(tx, user, nickname)) await this.audited(tx, 'nickname', user, client);
  }

  /** An address that somebody else has stays theirs, and this account keeps its own. */
  private async followEmail(tx: Transaction, user: User, email: string, client: ClientInfo): Promise<void> {
    const result = await this.accounts.setEmail(tx, user, email);
    if (result === 'taken') {
      const detail = {
        identity_provider: user.identityProviderId,
        reason: 'the e-mail address belongs to another account, so this account keeps its own',
      };
      await this.audit.record(tx, 'USER_EXTERNAL_REFUSED', { userId: user.uid, client, detail });
    }
    if (result !== true) return;
    // The owner signs in, but it is somebody else who writes the claims.
    if (identityKey(email) !== user.emailKey) {
      // A code that was mailed to the former address would prove the new one (`SecondFactor.acceptCode`).
      await this.pendingLogins.close(tx, user.uid);
      await this.mailer.queueEmailChanged(tx, user, email, { by: 'directory', language: client.language });
    }
    await this.audited(tx, 'email', user, client);
  }

  /** Races with another sign-in of the account: the first one changes the value that both have read. */
  private audited(
    tx: Transaction,
    attribute: 'nickname' | 'email',
    { uid: userId, identityProviderId }: User,
    client: ClientInfo,
  ): Promise<void> {
    const detail = { identity_provider: identityProviderId, attribute };
    return this.audit.record(tx, 'USER_EXTERNAL_SYNCED', { userId, client, detail });
  }
}
