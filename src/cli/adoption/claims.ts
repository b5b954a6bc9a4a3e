import { identityKey } from '../../shared/identity-key';
import type { ExistingUser } from '../../users/adopted-users';
import { AccountProblem, type NewUser } from '../../users/user-accounts';

/** The accounts that a row must not collide with: those of the database, and those of earlier rows. */
export class Claims {
  private readonly users = new Map<string, ExistingUser>();

  add(user: ExistingUser): void {
    this.users.set(`uid ${user.uid}`, user);
    this.users.set(`name ${user.loginNameKey}`, user);
    if (user.emailKey !== null) this.users.set(`email ${user.emailKey}`, user);
  }

  /**
   * Returns whether the row has been adopted before. With a uid, the account has the same uid and login name. Without,
   * it has the same login name and address.
   * @throws AccountProblem when a part of the row belongs to another account
   */
  includes({ uid, loginName, email }: NewUser): boolean {
    const name = identityKey(loginName);
    const sameUid = uid === undefined ? undefined : this.users.get(`uid ${uid}`);
    if (sameUid !== undefined) {
      // A deleted account keeps its uid and nothing else. It stays deleted.
      if (sameUid.deleted || sameUid.loginNameKey === name) return true;
      throw new AccountProblem('the uid belongs to an account with another login name');
    }
    const emailKey = email === null ? null : identityKey(email);
    const sameName = this.users.get(`name ${name}`);
    if (sameName !== undefined) {
      const same = uid === undefined && sameName.loginName === loginName.trim() && sameName.emailKey === emailKey;
      if (same) return true;
      throw new AccountProblem(`the login name belongs to the account ${sameName.uid}`);
    }
    const sameEmail = emailKey === null ? undefined : this.users.get(`email ${emailKey}`);
    if (sameEmail === undefined) return false;
    throw new AccountProblem(`the e-mail address belongs to the account ${sameEmail.uid}`);
  }
}

export const claimOf = (user: NewUser & { readonly uid: string }): ExistingUser => ({
  uid: user.uid,
  loginName: user.loginName.trim(),
  loginNameKey: identityKey(user.loginName),
  emailKey: user.email === null ? null : identityKey(user.email),
  deleted: false,
});
