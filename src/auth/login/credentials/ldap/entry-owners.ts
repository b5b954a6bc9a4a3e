import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { identityKey } from '../../../../shared/identity-key';
import { AuditTrail } from '../../../../audit/audit-trail';
import type { DirectoryPerson } from '../../../../directory/person';
import { Database } from '../../../../platform/database/database';
import type { User } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';

/**
 * The account of an entry. `stranger`: the name belongs to an account of another entry, named in `account`. `unmatched`: the
 * account with the name is not bound yet, and nothing in `LDAP_MATCH_ATTRIBUTES` says that it is that of the entry.
 */
export interface KnownOwner {
  readonly kind: 'account' | 'stranger' | 'unmatched';
  readonly account: User;
}

/** `nobody`: no account has this entry or its login name. */
export type Owner = KnownOwner | { readonly kind: 'nobody' };

/** Why an entry leads to no account, as the audit says it. */
const reasons = {
  several: 'the search filter matches several entries',
  stranger: 'the login name belongs to the account of another entry',
  unmatched: 'no attribute of LDAP_MATCH_ATTRIBUTES has the login name of the account',
  raced: 'the account or the directory entry was bound meanwhile',
} as const;

export type RefusalReason = keyof typeof reasons;

/** Finds the account of a directory entry by the stable id of the entry, whatever name was typed. */
@Injectable()
export class EntryOwners {
  constructor(
    private readonly users: UsersRepository,
    private readonly audit: AuditTrail,
    private readonly database: Database,
  ) {}

  /** @param named the account with the login name that found the entry; it may be that of another entry by now */
  async amongNamed(person: DirectoryPerson, named: User): Promise<KnownOwner> {
    const bound = person.id === null ? null : await this.users.findByDirectoryId(person.id);
    if (bound !== null) return { kind: 'account', account: bound };
    return namesakeOf(person, named);
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
    return namesakeOf(person, namesake);
  }

  /** @param account whose login name or lock is concerned; undefined when there is none */
  async recordRefusal(reason: RefusalReason, account: User | undefined, client: ClientInfo): Promise<void> {
    await this.audit.record(this.database, 'USER_DIRECTORY_REFUSED', {
      userId: account?.uid,
      client,
      detail: { reason: reasons[reason] },
    });
  }
}

/** A parallel login may have bound the account since the look-up by the id. */
function namesakeOf(person: DirectoryPerson, account: User): KnownOwner {
  if (account.directoryId !== null) {
    return { kind: account.directoryId === person.id ? 'account' : 'stranger', account };
  }
  return { kind: mayBeBound(account, person) ? 'account' : 'unmatched', account };
}

/**
 * An account that is not bound yet belongs to the entry that has its login name in `LDAP_MATCH_ATTRIBUTES`. The filter
 * may accept further attributes. A person could write the login name of a colleague into one of them, and become a
 * colleague who has left, or who was imported and has not signed in yet.
 */
function mayBeBound({ loginNameKey }: User, { matchNames }: DirectoryPerson): boolean {
  return matchNames.some((name) => identityKey(name) === loginNameKey);
}

/** The one value of `LDAP_ATTR_LOGIN`. Undefined when there are none or several. */
export function loginNameOf({ loginNames }: DirectoryPerson): string | undefined {
  return loginNames.length === 1 ? loginNames[0] : undefined;
}
