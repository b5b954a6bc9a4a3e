import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { accountDisabled, accountNotEnabled, passkeyRejected } from '../../../shared/errors/error-catalogue';
import type { DirectoryPerson } from '../../../directory/person';
import { DirectoryStanding } from '../../../directory/standing';
import { directoryBudgetMs } from '../../../directory/ldap-limits';
import type { User } from '../../../users/user.entity';
import type { CredentialProof } from '../credentials/credential-verifier';
import { DirectoryFollower } from '../credentials/ldap/directory-follower';
import { EntryOwners } from '../credentials/ldap/entry-owners';

/** The answers of `/login` for what the directory says about an entry. */
const refusals = {
  gone: passkeyRejected,
  disabled: accountDisabled,
  expired: accountNotEnabled,
  'not in the group': accountNotEnabled,
} as const;

/**
 * Asks the directory about a directory user who logs in with a passkey. With a password, the directory itself would
 * refuse a disabled user. There is no grace period without an answer: this login would count as a look, so one login
 * after another would keep a disabled user in (ADR 0024).
 */
@Injectable()
export class DirectoryUsers {
  constructor(
    private readonly standing: DirectoryStanding,
    private readonly follower: DirectoryFollower,
    private readonly owners: EntryOwners,
  ) {}

  /**
   * @returns the proof for `follow`; it has no person for a local user
   * @throws DomainError LOGIN_401011, LOGIN_401012; PASSKEY_401001 when the entry is gone or somebody else's; LOGIN_503001
   */
  async assertStanding(user: User): Promise<CredentialProof> {
    // A provider cannot be asked about somebody who is not at it, so nobody would notice that the person has left (ADR 0036).
    if (user.provider === 'oidc') throw new DomainError(passkeyRejected);
    if (user.provider !== 'ldap') return { user };
    const askUntil = performance.now() + directoryBudgetMs;
    const person = await this.standing.personOf(user, askUntil);
    const objection = this.standing.objectionTo(person);
    if (objection !== undefined) throw new DomainError(refusals[objection]);
    if (person !== undefined && !(await this.owns(user, person))) throw new DomainError(passkeyRejected);
    return { user, person, askUntil };
  }

  /**
   * An account that is not bound yet is bound by this login. Nobody has proven the password of the entry, so the rules
   * of a login by password decide whether the entry is that of the account and not that of a namesake.
   */
  private async owns(user: User, person: DirectoryPerson): Promise<boolean> {
    if (user.directoryId !== null) return true;
    const owner = await this.owners.amongNamed(person, user);
    return owner.kind === 'account' && owner.account.uid === user.uid;
  }

  /** Writes what the directory says, as after a login with a password. */
  follow(proof: CredentialProof, client: ClientInfo): Promise<User> {
    return this.follower.follow(proof, client);
  }
}
