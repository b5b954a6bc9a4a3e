import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { DomainError } from '../../../../shared/errors/domain-error';
import { loginFailed } from '../../../../shared/errors/error-catalogue';
import { AuditTrail } from '../../../../audit/audit-trail';
import type { DirectoryPerson } from '../../../../directory/person';
import { Database } from '../../../../platform/database/database';
import { rootTenant } from '../../../../platform/settings/system-settings';
import { AccountProblem, UserAccounts } from '../../../../users/user-accounts';
import { type User, userStatus } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';
import { emailOf, nicknameOf } from './entry-attributes';
import { EntryOwners, loginNameOf } from './entry-owners';

/** Creates the account of a user whose credential the directory has accepted (docs/spec/decisions.md#7). */
@Injectable()
export class Provisioning {
  constructor(
    private readonly accounts: UserAccounts,
    private readonly users: UsersRepository,
    private readonly owners: EntryOwners,
    private readonly audit: AuditTrail,
    private readonly database: Database,
  ) {}

  /**
   * The login name comes from the directory, never from the typed text. An existing account or e-mail address is never
   * taken over: otherwise a person who can write a colleague's address into an entry could log in as the colleague. First
   * logins of one person race for the unique keys of the login name and of the entry, also under different names. The
   * loser reads the winner's row and uses it.
   * @returns null when the account was refused; the audit trail says why
   * @throws DomainError LOGIN_401001 when the login name belongs to the account of another entry
   */
  async accountOf(person: DirectoryPerson, client: ClientInfo): Promise<User | null> {
    const loginName = loginNameOf(person);
    if (loginName === undefined) {
      return this.refuse('the directory entry must have exactly one login name', undefined, client);
    }
    const email = emailOf(person);
    try {
      return await this.database.transaction(async (tx) => {
        await this.accounts.assertNoAddressOfOthers(tx, loginName);
        const made = await this.accounts.create(tx, {
          loginName,
          email,
          nickname: nicknameOf(person),
          passwordHash: null,
          temporary: false,
          status: userStatus.enabled,
          mfaType: 'email',
          provider: 'ldap',
          directoryId: person.id,
          isAdmin: person.groups.admin ?? false,
          tenantId: rootTenant,
          orgUnitId: null,
        });
        await this.audit.record(tx, 'USER_PROVISIONED', { userId: made.uid, client, detail: { provider: 'ldap' } });
        return made;
      });
    } catch (error) {
      if (!(error instanceof AccountProblem)) throw error;
      const winner = person.id === null ? null : await this.users.findByDirectoryId(person.id);
      if (winner !== null) return winner;
      const namesake = await this.users.findByLoginName(loginName);
      if (namesake?.provider === 'ldap') return this.namesake(namesake, person, client);
      const named = namesake ?? (await this.users.findSigningIn(loginName));
      const conflicting = named ?? (email === null ? null : await this.users.findByEmail(email));
      return this.refuse(namesake ? 'the login name is taken' : error.message, conflicting?.uid, client);
    }
  }

  /** Directories without ids: the login name is all that tells the people apart. */
  private async namesake(namesake: User, { id }: DirectoryPerson, client: ClientInfo): Promise<User> {
    if (namesake.directoryId === id) return namesake;
    await this.owners.recordRefusal('stranger', namesake, client);
    throw new DomainError(loginFailed);
  }

  private async refuse(reason: string, userId: string | undefined, client: ClientInfo): Promise<null> {
    await this.audit.record(this.database, 'USER_PROVISIONING_REFUSED', { userId, client, detail: { reason } });
    return null;
  }
}
