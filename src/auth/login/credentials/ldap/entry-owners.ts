import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { identityKey } from '../../../../shared/identity-key';
import { type AuditEvent, AuditTrail } from '../../../../audit/audit-trail';
import type { DirectoryPerson } from '../../../../directory/person';
import { AppConfig } from '../../../../platform/config/app-config';
import { Database } from '../../../../platform/database/database';
import type { User } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';

/** The account of an entry. `stranger`: the name belongs to an account of another entry, named in `account`. */
export type Owner =
  | { readonly kind: 'account' | 'stranger'; readonly account: User }
  /** No account has this entry or its login name. */
  | { readonly kind: 'nobody' };

/** Finds the account of a directory entry by the stable id of the entry, whatever name was typed. */
@Injectable()
export class EntryOwners {
  constructor(
    private readonly users: UsersRepository,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  /** @param named the account with the login name that found the entry; it may be that of another entry by now */
  async amongNamed(person: DirectoryPerson, named: User): Promise<Owner> {
    const bound = person.id === null ? null : await this.users.findByDirectoryId(person.id);
    if (bound !== null) return { kind: 'account', account: bound };
    // Without an id, the name that the filter accepts is all there is, and nothing is bound.
    const free = named.directoryId === null && (person.id === null || (await this.mayBeBound(named, person)));
    return { kind: free ? 'account' : 'stranger', account: named };
  }

  /** @param key of the typed name, which is no login name of an account */
  async ofAlias(person: DirectoryPerson, key: string): Promise<Owner | 'unsafe'> {
    // Without an id an alias would be a second way to an account, with a failure counter of its own.
    const name = loginNameOf(person);
    if (person.id === null) return name !== undefined && identityKey(name) === key ? { kind: 'nobody' } : 'unsafe';
    const bound = await this.users.findByDirectoryId(person.id);
    if (bound !== null) return { kind: 'account', account: bound };
    const namesake = name === undefined ? null : await this.users.findByLoginName(name);
    if (namesake?.provider !== 'ldap') return { kind: 'nobody' };
    // A parallel login may have made or bound the account since the look-up by the id.
    const own = namesake.directoryId === null || namesake.directoryId === person.id;
    return { kind: own ? 'account' : 'stranger', account: namesake };
  }

  /** @param account whose login name or lock is concerned; undefined when there is none */
  async recordRefusal(reason: string, account: User | undefined, client: ClientInfo): Promise<void> {
    await this.audit.record(this.database, 'USER_DIRECTORY_REFUSED', {
      userId: account?.uid,
      client,
      detail: { reason },
    });
  }

  /**
   * A just-in-time account is bound by the attribute that it was made from. Otherwise a person could write the login
   * name of a colleague who has left into another attribute, and become the colleague. An account that an operator made
   * may have any login name that the filter accepts. The audit trail tells who made it; when that row was purged and
   * just-in-time provisioning is on, the strict rule holds.
   */
  private async mayBeBound({ uid, loginNameKey }: User, person: DirectoryPerson): Promise<boolean> {
    const name = loginNameOf(person);
    if (name !== undefined && identityKey(name) === loginNameKey) return true;
    const made = await this.database.row<{ event: AuditEvent }>(
      `SELECT event FROM audit_logs
       WHERE user_id = ? AND event IN ('USER_PROVISIONED', 'USER_CREATED', 'USER_IMPORTED') LIMIT 1`,
      [uid],
    );
    return made === undefined ? !this.config.ldap!.jitProvisioning : made.event !== 'USER_PROVISIONED';
  }
}

/** The one value of `LDAP_ATTR_LOGIN`. Undefined when there are none or several. */
export function loginNameOf({ loginNames }: DirectoryPerson): string | undefined {
  return loginNames.length === 1 ? loginNames[0] : undefined;
}
