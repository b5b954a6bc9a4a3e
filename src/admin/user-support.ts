import { Injectable } from '@nestjs/common';
import { Mailer } from '../mail/mailer';
import { TotpReset } from '../mfa/totp-reset';
import { OwnPasskeys } from '../passkeys/own-passkeys';
import { type Invitation, UserInvitations } from '../password-reset/user-invitations';
import type { Gated } from '../platform/database/cooldown.repository';
import { type Language, languageFor } from '../shared/languages';
import { notFoundForCaller, notPermitted } from '../shared/errors/error-catalogue';
import { usableAddress } from '../shared/mail-address';
import { TokenRevoker } from '../sessions/token-revoker';
import { TrustedDevices } from '../sessions/trusted-devices';
import { UserSessions } from '../sessions/user-sessions';
import { AccountProblem, UserAccounts } from '../users/user-accounts';
import type { User } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { AdminChanges, type Change } from './admin-changes';
import { type Administrator, type Authority, foreignChange } from './authority';
import { TargetUsers } from './target-users';

/** Help for one user by an administrator or an operator. Each method throws AccountProblem as TargetUsers.lock does. */
@Injectable()
export class UserSupport {
  /** Steps in a transaction that holds the row of the user. Each one writes the audit row, and tells the owner. */
  readonly steps = {
    resetSecondFactor: async ({ tx, record }: Change, user: User, by: Authority) => {
      const detail = await this.totpReset.reset(tx, user, by.actor?.client.language);
      await record('TOTP_RESET', { userId: user.uid, detail });
    },
    requirePasswordChange: async ({ tx, record }: Change, user: User, by: Authority) => {
      const changed = await this.users.requirePasswordChange(tx, user.uid);
      if (changed) await this.mailer.queueAccountChanged(tx, user, foreignChange('passwordChangeRequired', by));
      await record('USER_PASSWORD_CHANGE_REQUIRED', { userId: user.uid, detail: { changed } });
    },
    invite: async ({ tx, record }: Change<Gated<'reset'>>, user: User, language: Language) => {
      const invitation = await this.invitations.invite(tx, user, language);
      await record('USER_INVITED', { userId: user.uid });
      return invitation;
    },
  };

  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly accounts: UserAccounts,
    private readonly users: UsersRepository,
    private readonly revoker: TokenRevoker,
    private readonly sessions: UserSessions,
    private readonly devices: TrustedDevices,
    private readonly totpReset: TotpReset,
    private readonly invitations: UserInvitations,
    private readonly passkeys: OwnPasskeys,
    private readonly mailer: Mailer,
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
      const user = await this.targets.lock(change.tx, by, uid);
      await this.steps.resetSecondFactor(change, user, by);
    });
  }

  /**
   * Races with a login by this passkey and with other removals, on any replica: see OwnPasskeys.removeFor. Sessions that
   * began with the passkey go on. @throws AccountProblem USER_404001
   */
  removePasskey(by: Administrator, uid: string, id: string): Promise<void> {
    return this.changes.make(by, async ({ tx, record }) => {
      const { email, loginName, language } = await this.targets.lock(tx, by, uid);
      const owner = { uid, loginName, email };
      const client = { ...by.actor.client, language: languageFor(language, by.actor.client.language) };
      if (!(await this.passkeys.removeFor(tx, owner, id, client))) {
        throw new AccountProblem(`the user has no passkey ${JSON.stringify(id)}`, notFoundForCaller);
      }
      await record('PASSKEY_REMOVED', { userId: uid, detail: { passkey: id } });
    });
  }

  /**
   * Ends one session, see UserSessions.endFor. The applications that were entered from it are told, as at every end.
   * @throws AccountProblem USER_404001
   */
  endSession(by: Authority, uid: string, sid: string): Promise<void> {
    return this.changes.make(by, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      if (!(await this.sessions.endFor(tx, user, sid))) throw new AccountProblem('no such session', notFoundForCaller);
      await record('SESSION_CLOSED', { userId: uid, detail: { sid } });
    });
  }

  /** Ends the trust in one device, see TrustedDevices.removeFor. Sessions go on. @throws AccountProblem USER_404001 */
  removeDevice(by: Authority, uid: string, id: string): Promise<void> {
    return this.changes.make(by, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      if (!(await this.devices.removeFor(tx, user, id))) throw new AccountProblem('no such device', notFoundForCaller);
      await record('TRUSTED_DEVICE_REMOVED', { userId: uid, detail: { device: id } });
    });
  }

  /** The next login asks for a new password. Open sessions go on. @throws AccountProblem for a directory user */
  requirePasswordChange(by: Authority, uid: string): Promise<void> {
    return this.changes.make(by, async (change) => {
      const user = await this.targets.lock(change.tx, by, uid);
      if (user.provider !== 'password') {
        throw new AccountProblem('a directory user has no password in this service', notPermitted);
      }
      await this.steps.requirePasswordChange(change, user, by);
    });
  }

  /** Mails a link by which the user sets the first password. */
  async invite(by: Authority, uid: string, language: Language): Promise<Invitation> {
    await this.targets.find(by, uid);
    return this.changes.makeWithLinks(by, uid, async (change) =>
      this.steps.invite(change, await this.targets.lock(change.tx, by, uid), language),
    );
  }

  /** @param language when that of the owner is unknown. @throws AccountProblem without a usable address */
  async inviteByMail(by: Authority, uid: string, language: Language): Promise<void> {
    const user = await this.targets.find(by, uid);
    if (usableAddress(user.email) === null) throw new AccountProblem('the user has no valid e-mail address', 'email');
    await this.invite(by, uid, languageFor(user.language, language));
  }

  /** Mails the link of a forgotten password. @param language when that of the owner is unknown */
  async sendResetLink(by: Authority, uid: string, language: Language): Promise<void> {
    await this.targets.find(by, uid);
    await this.changes.makeWithLinks(by, uid, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      await this.invitations.sendResetLink(tx, user, languageFor(user.language, language));
      await record('USER_RESET_PASSWORD', { userId: uid });
    });
  }
}
