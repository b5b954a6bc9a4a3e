import { Injectable } from '@nestjs/common';
import type { Language } from '../shared/languages';
import { notFoundForCaller, notPermitted } from '../shared/errors/error-catalogue';
import { usableAddress } from '../shared/mail-address';
import { ResetSettings } from './reset-settings';
import type { Gated } from '../platform/database/cooldown.repository';
import { changeType } from '../shared/change-type';
import { AccountProblem } from '../users/user-accounts';
import { type User, userStatus } from '../users/user.entity';
import { type LinkOptions, type MailedLink, MailedLinks } from './links/mailed-links';

export interface Invitation {
  readonly link: string;
  readonly expires: Date;
  /** False for a user without a usable e-mail address. */
  readonly mailed: boolean;
}

/** Mails links in the name of an operator or an administrator. The caller writes the audit row. */
@Injectable()
export class UserInvitations {
  constructor(
    private readonly links: MailedLinks,
    private readonly settings: ResetSettings,
  ) {}

  /**
   * Lets a user choose the first password, with a request that has a longer lifetime.
   * @throws AccountProblem for a disabled user and for a directory user
   */
  async invite(tx: Gated<'reset'>, user: User, language: Language): Promise<Invitation> {
    assertLocal(user);
    const { inviteTtlSeconds: ttlSeconds } = this.settings;
    const { request, link, mailed } = await this.open(tx, user, { type: changeType.first, ttlSeconds, language });
    return { link, expires: request.expired, mailed };
  }

  /** The link of /forget-password, without its cooldown. @throws AccountProblem as `invite` and without an address */
  async sendResetLink(tx: Gated<'reset'>, user: User, language: Language): Promise<void> {
    assertLocal(user);
    if (usableAddress(user.email) === null) throw new AccountProblem('the user has no valid e-mail address', 'email');
    const { ttlSeconds } = this.settings;
    await this.open(tx, user, { type: changeType.forgotten, ttlSeconds, language });
  }

  private async open(tx: Gated<'reset'>, user: User, options: LinkOptions): Promise<MailedLink> {
    const opened = await this.links.open(tx, user, options);
    if (opened === undefined) throw new AccountProblem('the user was deleted', notFoundForCaller);
    return opened;
  }
}

function assertLocal({ provider, status }: User): void {
  if (provider !== 'password') {
    throw new AccountProblem('a directory user has no password in this service', notPermitted);
  }
  if (status === userStatus.disabled) throw new AccountProblem('the account is disabled', 'status');
}
