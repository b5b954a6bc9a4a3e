import { Injectable } from '@nestjs/common';
import { nameForMail } from '../mail/mailer';
import { TotpReset } from '../mfa/totp-reset';
import { OwnPasskeys } from '../passkeys/own-passkeys';
import { type Invitation, UserInvitations } from '../password-reset/user-invitations';
import type { Language } from '../shared/languages';
import { notFoundForCaller, notPermitted } from '../shared/errors/error-catalogue';
import { usableAddress } from '../shared/mail-address';
import { TokenRevoker } from '../sessions/token-revoker';
import { AccountProblem, UserAccounts } from '../users/user-accounts';
import { UsersRepository } from '../users/users.repository';
import { AdminChanges, type Change } from './admin-changes';
import type { Administrator, Authority } from './authority';
import { TargetUsers } from './target-users';

/** Help for one user by an administrator or an operator. Each method throws AccountProblem as TargetUsers.lock does. */
@Injectable()
export class UserSupport {
  /** Steps in a transaction that holds the row of the user. Each one writes the audit row. */
  readonly steps = {
    resetSecondFactor: async ({ tx, record }: Change, userId: string) => {
      await record('TOTP_RESET', { userId, detail: await this.totpReset.reset(tx, userId) });
    },
    requirePasswordChange: async ({ tx, record }: Change, userId: string) => {
      const changed = await this.users.requirePasswordChange(tx, userId);
      await record('USER_PASSWORD_CHANGE_REQUIRED', { userId, detail: { changed } });
    },
  };

  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly accounts: UserAccounts,
    private readonly users: UsersRepository,
    private readonly revoker: TokenRevoker,
    private readonly totpReset: TotpReset,
    private readonly invitations: UserInvitations,
    private readonly passkeys: OwnPasskeys,
  ) {}

  /** Ends the lock after wrong passwords and the block after wrong codes. */
  unlock(by: Authority, uid: string): Promise<void> {
    return this.changes.make(by, async ({ tx, record }) => {
      await this.targets.lock(tx, by, uid);
      await this.accounts.unlock(tx, uid);
      await record('USER_UNLOCKED', { userId: uid });
    });
  }

  /** @returns how many tokens were not revoked before */
  revokeTokens(by: Authority, uid: string): Promise<number> {
    return this.changes.make(by, async ({ tx, record }) => {
      await this.targets.lock(tx, by, uid);
      const revoked = await this.revoker.revokeAll(tx, uid);
      await record('USER_TOKENS_REVOKED', { userId: uid, detail: { revoked } });
      return revoked;
    });
  }

  resetSecondFactor(by: Authority, uid: string): Promise<void> {
    return this.changes.make(by, async (change) => {
      await this.targets.lock(change.tx, by, uid);
      await this.steps.resetSecondFactor(change, uid);
    });
  }

  /**
   * Races with a login by this passkey and with other removals, on any replica: see OwnPasskeys.removeFor. Sessions that
   * began with the passkey go on. @throws AccountProblem USER_404001
   */
  removePasskey(by: Administrator, uid: string, id: string): Promise<void> {
    return this.changes.make(by, async ({ tx, record }) => {
      const { email, loginName } = await this.targets.lock(tx, by, uid);
      const owner = { uid, email, nickname: nameForMail({ loginName }) };
      if (!(await this.passkeys.removeFor(tx, owner, id, by.actor.client))) {
        throw new AccountProblem(`the user has no passkey ${JSON.stringify(id)}`, notFoundForCaller);
      }
      await record('PASSKEY_REMOVED', { userId: uid, detail: { passkey: id } });
    });
  }

  /** The next login asks for a new password. Open sessions go on. @throws AccountProblem for a directory user */
  requirePasswordChange(by: Authority, uid: string): Promise<void> {
    return this.changes.make(by, async (change) => {
      const { provider } = await this.targets.lock(change.tx, by, uid);
      if (provider !== 'password') {
        throw new AccountProblem('a directory user has no password in this service', notPermitted);
      }
      await this.steps.requirePasswordChange(change, uid);
    });
  }

  /** Mails a link by which the user sets the first password. */
  async invite(by: Authority, uid: string, language: Language): Promise<Invitation> {
    await this.targets.find(by, uid);
    return this.changes.makeWithLinks(by, uid, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      const invitation = await this.invitations.invite(tx, user, language);
      await record('USER_INVITED', { userId: uid });
      return invitation;
    });
  }

  /** @throws AccountProblem without a usable address */
  async inviteByMail(by: Authority, uid: string, language: Language): Promise<void> {
    const { email } = await this.targets.find(by, uid);
    if (usableAddress(email) === null) throw new AccountProblem('the user has no valid e-mail address', 'email');
    await this.invite(by, uid, language);
  }

  /** Mails the link of a forgotten password. */
  async sendResetLink(by: Authority, uid: string, language: Language): Promise<void> {
    await this.targets.find(by, uid);
    await this.changes.makeWithLinks(by, uid, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      await this.invitations.sendResetLink(tx, user, language);
      await record('USER_RESET_PASSWORD', { userId: uid });
    });
  }
}
