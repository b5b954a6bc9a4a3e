import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { DomainError } from '../../../../shared/errors/domain-error';
import { loginFailed } from '../../../../shared/errors/error-catalogue';
import { isPlainAddress } from '../../../../shared/mail-address';
import { plainTextOf } from '../../../../shared/plain-text';
import { AuditTrail } from '../../../../audit/audit-trail';
import type { DirectoryPerson } from '../../../../directory/person';
import { AppConfig } from '../../../../platform/config/app-config';
import { Database, type Transaction } from '../../../../platform/database/database';
import { TokenRevoker } from '../../../../tokens/token-revoker';
import { DirectoryAccounts } from '../../../../users/directory-accounts';
import type { User } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';
import { EntryOwners } from './entry-owners';

/**
 * After a login, writes what the directory says into the account: the id of the entry, once, then nickname and e-mail
 * address (`LDAP_SYNC_ATTRIBUTES`) and the rights of an administrator (`LDAP_GROUP_ADMIN`).
 */
@Injectable()
export class DirectoryFollower {
  private readonly logger = new Logger('directory');

  constructor(
    private readonly accounts: DirectoryAccounts,
    private readonly users: UsersRepository,
    private readonly owners: EntryOwners,
    private readonly revoker: TokenRevoker,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  /**
   * @returns the account as it is now; a new credential version is that of the session to open
   * @throws DomainError LOGIN_401001 when the account was bound to another entry or deleted meanwhile
   */
  async follow(user: User, person: DirectoryPerson, client: ClientInfo): Promise<User> {
    const steps = [
      await this.bind(user, person, client),
      await this.followAttributes(user, person, client),
      await this.followAdmin(user, person, client),
    ];
    if (!steps.includes(true)) return user;
    const now = await this.users.findByUid(user.uid);
    if (now === null || now.deletedAt !== null) throw new DomainError(loginFailed);
    return now;
  }

  /** Each step returns whether the row may differ from `user` now. */
  private async bind(user: User, { id }: DirectoryPerson, client: ClientInfo): Promise<boolean> {
    if (id === null || user.directoryId === id) return false;
    const won = await this.database.transaction(async (tx) => {
      const bound = await this.accounts.bind(tx, user, id);
      if (bound) await this.audit.record(tx, 'USER_DIRECTORY_BOUND', { userId: user.uid, client });
      return bound;
    });
    if (won || (await this.users.findByUid(user.uid))?.directoryId === id) return true;
    await this.owners.recordRefusal('the account or the directory entry was bound meanwhile', user, client);
    throw new DomainError(loginFailed);
  }

  /** A value that is missing or malformed changes nothing: it may only be hidden from the service account. */
  private async followAttributes(user: User, person: DirectoryPerson, client: ClientInfo): Promise<boolean> {
    if (!this.config.ldap!.syncAttributes) return false;
    const nickname = nicknameOf(person);
    const email = emailOf(person);
    const changed = [
      nickname !== null &&
        nickname !== user.nickname &&
        (await this.audited('nickname', user, client, (tx) => this.accounts.setNickname(tx, user, nickname))),
      email !== null &&
        email !== user.email &&
        (await this.audited('email', user, client, (tx) => this.accounts.setEmail(tx, user, email))),
    ];
    return changed.includes(true);
  }

  private async audited(
    attribute: 'nickname' | 'email',
    { uid: userId }: User,
    client: ClientInfo,
    change: (tx: Transaction) => Promise<boolean | 'taken'>,
  ): Promise<boolean> {
    const result = await this.database.transaction(async (tx) => {
      const changed = await change(tx);
      if (changed === true) {
        await this.audit.record(tx, 'USER_DIRECTORY_SYNCED', { userId, client, detail: { attribute } });
      }
      return changed;
    });
    if (result === 'taken') {
      const { requestId } = client;
      this.logger.warn({ requestId, userId }, 'the e-mail address in the directory belongs to another account');
    }
    return result !== 'taken';
  }

  /** Tokens of before are refused from the commit on, and the session of this login has the new rights. */
  private async followAdmin(user: User, { groups }: DirectoryPerson, client: ClientInfo): Promise<boolean> {
    const { admin } = groups;
    if (admin === null || admin === user.isAdmin) return false;
    await this.database.transaction(async (tx) => {
      if (!(await this.accounts.setAdmin(tx, user.uid, admin))) return;
      await this.revoker.markRevoked(tx, user.uid);
      await this.audit.record(tx, 'USER_ADMIN_CHANGED', { userId: user.uid, client, detail: { is_admin: admin } });
    });
    return true;
  }
}

/** A name that the service refuses from others loses the refused characters, because it must not lock the person out. */
export function nicknameOf({ name }: DirectoryPerson): string | null {
  return plainTextOf((name ?? '').slice(0, 255)) || null;
}

export function emailOf({ email }: DirectoryPerson): string | null {
  return email !== null && isPlainAddress(email) ? email : null;
}
