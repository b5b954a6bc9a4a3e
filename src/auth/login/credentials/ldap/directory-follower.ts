import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { DomainError } from '../../../../shared/errors/domain-error';
import { loginFailed } from '../../../../shared/errors/error-catalogue';
import { AuditTrail } from '../../../../audit/audit-trail';
import type { DirectoryPerson } from '../../../../directory/person';
import { Database } from '../../../../platform/database/database';
import { FollowedGroups } from '../../../../groups/followed-groups';
import { TokenRevoker } from '../../../../sessions/token-revoker';
import { DirectoryAccounts } from '../../../../users/directory-accounts';
import type { User } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';
import type { CredentialProof } from '../credential-verifier';
import { EntryAttributes } from './entry-attributes';
import { EntryOwners } from './entry-owners';

/**
 * After a login, writes what the directory says into the account: the id of the entry, once, then its attributes
 * (EntryAttributes), the rights of an administrator (`LDAP_GROUP_ADMIN`) and the groups (`LDAP_GROUPS`).
 */
@Injectable()
export class DirectoryFollower {
  constructor(
    private readonly accounts: DirectoryAccounts,
    private readonly users: UsersRepository,
    private readonly owners: EntryOwners,
    private readonly attributes: EntryAttributes,
    private readonly revoker: TokenRevoker,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly groups: FollowedGroups,
  ) {}

  /**
   * @returns the account as it is now; a new credential version is that of the session to open
   * @throws DomainError LOGIN_401001 when the account was bound to another entry or deleted meanwhile
   */
  async follow({ user, person, askUntil: until = 0 }: CredentialProof, client: ClientInfo): Promise<User> {
    if (person === undefined) return user;
    const steps = [
      await this.bind(user, person, client),
      await this.attributes.follow(user, person, { client, until }),
      await this.followAdmin(user, person, client),
    ];
    const { names } = person.groups;
    if (names !== undefined) await this.groups.sync(client, user, { source: 'directory' }, names);
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
    await this.owners.recordRefusal('raced', user, client);
    throw new DomainError(loginFailed);
  }

  /** Tokens of before are refused from the commit on, and the session of this login has the new rights. */
  private async followAdmin(user: User, { groups }: DirectoryPerson, client: ClientInfo): Promise<boolean> {
    const { admin } = groups;
    if (admin === null || admin === user.isAdmin) return false;
    await this.database.transaction(async (tx) => {
      if (!(await this.accounts.setAdmin(tx, user.uid, admin))) return;
      await this.revoker.markRevoked(tx, user.uid);
      await this.audit.record(tx, 'USER_ADMIN_CHANGED', { userId: user.uid, client, detail: { is_admin: admin } });
      if (!admin || user.role === null) return;
      await this.audit.record(tx, 'USER_ROLE_CHANGED', { userId: user.uid, client, detail: { role: 'none' } });
    });
    return true;
  }
}
