import { Injectable } from '@nestjs/common';
import { DirectorySettings } from '../directory/ldap-settings';
import { GroupMembers } from '../groups/group-members';
import { IdentityProviderChanges } from '../identity-providers/identity-provider-changes';
import { IdentityProviderTraces } from '../identity-providers/identity-provider-traces';
import { Mailer } from '../mail/mailer';
import { OwnPasskeys } from '../passkeys/own-passkeys';
import { PasswordChangeRequests } from '../password-reset/password-change-requests';
import { UserInvitations } from '../password-reset/user-invitations';
import type { Gated } from '../platform/database/cooldown.repository';
import { notPermitted } from '../shared/errors/error-catalogue';
import { type Language, languageFor } from '../shared/languages';
import { usableAddress } from '../shared/mail-address';
import { TokenRevoker } from '../sessions/token-revoker';
import { PasswordHistory } from '../users/password-change-log.repository';
import { ProviderMoves, type SignInPlace } from '../users/provider-moves';
import { AccountProblem, assertSignInPlace } from '../users/user-accounts';
import { type User, userStatus } from '../users/user.entity';
import { AdminChanges, type Change } from './admin-changes';
import { type Authority, foreignChange, rulesAdministrators } from './authority';
import { assertProviderOf } from './provider-of-user';
import { TargetUsers } from './target-users';

/**
 * Moves a user between kinds of sign-in (docs/spec/extensions.md#k). What led into the account before leads there no longer:
 * sessions, links, codes, trusted devices, passkeys, the password and its history, and what it was bound to. Memberships
 * that followed the former place end as well. An authenticator stays: it is a second factor, and no way in.
 */
@Injectable()
export class UserMove {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly providers: IdentityProviderChanges,
    private readonly moves: ProviderMoves,
    private readonly external: IdentityProviderTraces,
    private readonly groups: GroupMembers,
    private readonly passkeys: OwnPasskeys,
    private readonly requests: PasswordChangeRequests,
    private readonly history: PasswordHistory,
    private readonly revoker: TokenRevoker,
    private readonly invitations: UserInvitations,
    private readonly mailer: Mailer,
    private readonly directory: DirectorySettings,
  ) {}

  /**
   * @param language of the invitation, when that of the owner is unknown
   * @returns whether a mail invites the user to choose a password
   * @throws AccountProblem USER_404001, AUTH_403001, USER_409002 for the own account, COMMON_400001
   */
  async move(by: Authority, uid: string, place: SignInPlace, language: Language): Promise<boolean> {
    if (!rulesAdministrators(by))
      throw new AccountProblem('only administrators of the root tenant do this', notPermitted);
    this.targets.assertNotOneself(by, uid);
    assertSignInPlace(place);
    if (place.provider === 'ldap' && this.directory.ldap === undefined) {
      throw new AccountProblem('there is no directory: set LDAP_URL first', 'provider');
    }
    // The gate row of a user stays for ever, so it is not made for a user who does not exist for the caller.
    await this.targets.find(by, uid);
    return this.changes.makeWithLinks(by, uid, async (change) => {
      await assertProviderOf(change.tx, this.providers, by, place);
      const user = await this.targets.lock(change.tx, by, uid);
      await this.apply(change, by, user, place);
      return place.provider === 'password' && (await this.invite(change, by, uid, language));
    });
  }

  private async apply(change: Change<Gated<'reset'>>, by: Authority, user: User, place: SignInPlace): Promise<void> {
    const { tx, record } = change;
    const { uid } = user;
    if (user.provider === 'password' && place.provider === 'password') {
      throw new AccountProblem('the user has a password already: set another one, or mail a link', 'provider');
    }
    if (!(await this.moves.move(tx, user, place))) throw new Error('the transaction does not hold the row of the user');
    await this.revoker.revokeAll(tx, uid);
    await this.requests.closeAll(tx, uid);
    await this.history.removeAll(tx, uid);
    await this.external.erase(tx, uid);
    await this.groups.endFollowed(change, uid);
    const passkeys = await this.passkeys.removeAllOf(tx, uid);
    await this.mailer.queueAccountChanged(tx, user, foreignChange('signInMoved', by));
    await record('USER_PROVIDER_CHANGED', {
      userId: uid,
      detail: {
        ...{ from: user.provider, from_identity_provider: user.identityProviderId },
        ...{ to: place.provider, to_identity_provider: place.identityProviderId, passkeys },
      },
    });
  }

  /** A user without an address, or who is disabled, gets the password from an administrator or an invitation later. */
  private async invite(
    change: Change<Gated<'reset'>>,
    by: Authority,
    uid: string,
    language: Language,
  ): Promise<boolean> {
    const { tx, record } = change;
    const user = await this.targets.find(by, uid, tx);
    if (usableAddress(user.email) === null || user.status === userStatus.disabled) return false;
    await this.invitations.invite(tx, user, languageFor(user.language, language));
    await record('USER_INVITED', { userId: uid });
    return true;
  }
}
