import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { directoryUnavailable } from '../shared/errors/error-catalogue';
import { Directory } from './directory';
import type { DirectoryPerson } from './person';

/** What an account knows about its entry. */
export interface KnownEntry {
  readonly loginName: string;
  /** Null while the account is not bound to an entry. */
  readonly directoryId: string | null;
}

export type Objection = 'gone' | 'disabled' | 'expired' | 'not in the group';

/** Looks a user up with the service account, where no password was typed that the directory could judge. */
@Injectable()
export class DirectoryStanding {
  constructor(
    private readonly directory: Directory,
    private readonly clock: Clock,
  ) {}

  /**
   * @param until the end of the time limit, on the clock of `performance.now()`
   * @returns undefined when there is no such entry, or none that `LDAP_SEARCH_FILTER` accepts
   * @throws DomainError LOGIN_503001 also when the answer does not tell who it is about
   */
  async personOf({ loginName, directoryId }: KnownEntry, until: number): Promise<DirectoryPerson | undefined> {
    const named = await this.directory.find({ name: loginName }, until);
    const person = named.kind === 'person' ? named.person : undefined;
    if (person !== undefined && (directoryId === null || person.id === directoryId)) return person;
    const unclear = person?.id === null || (named.kind === 'several' && directoryId === null);
    if (unclear) throw new DomainError(directoryUnavailable);
    if (directoryId === null) return undefined;
    const renamed = await this.directory.find({ id: directoryId }, until);
    return renamed.kind === 'person' ? renamed.person : undefined;
  }

  objectionTo(person: DirectoryPerson | undefined): Objection | undefined {
    if (person === undefined) return 'gone';
    if (person.disabled) return 'disabled';
    if (person.expires !== null && person.expires <= this.clock.now()) return 'expired';
    return person.groups.required ? undefined : 'not in the group';
  }
}
