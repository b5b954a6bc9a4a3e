import { Injectable } from '@nestjs/common';
import type { Language } from '../shared/languages';
import { usableAddress } from '../shared/mail-address';
import { AuditTrail } from '../audit/audit-trail';
import { Mailer } from '../mail/mailer';
import { AppConfig } from '../platform/config/app-config';
import { Cooldowns } from '../platform/database/cooldowns';
import { AccountProblem } from '../users/user-accounts';
import { type User, userStatus } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { resetLink } from './forgot/reset-link';
import { PasswordChangeRequests } from './password-change-requests';

export interface Invitation {
  readonly link: string;
  readonly expires: Date;
  /** False for a user without an e-mail address that mail can go to. */
  readonly mailed: boolean;
}

/** An operator invites a user: a request of type 0 with a longer lifetime, to choose the first password. */
@Injectable()
export class UserInvitations {
  constructor(
    private readonly changeRequests: PasswordChangeRequests,
    private readonly users: UsersRepository,
    private readonly cooldowns: Cooldowns,
    private readonly mailer: Mailer,
    private readonly audit: AuditTrail,
    private readonly config: AppConfig,
  ) {}

  /** @throws AccountProblem for a disabled user and for a directory user */
  async invite(user: User, language: Language): Promise<Invitation> {
    if (user.provider !== 'password') throw new AccountProblem('a directory user has no password here');
    if (user.status === userStatus.disabled) throw new AccountProblem('the account is disabled');
    return this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, async (tx) => {
      const credentialVersion = (await this.users.credentialVersion(tx, user.uid)) ?? user.credentialVersion;
      const owner = { uid: user.uid, credentialVersion };
      const { request, token } = await this.changeRequests.openIn(tx, owner, 0, this.config.reset.inviteTtlSeconds);
      const { expired: expires } = request;
      const link = resetLink(this.config.systemUrl, token, language);
      const to = usableAddress(user.email);
      if (to !== null)
        await this.mailer.queueResetLink(tx, { to, nickname: user.nickname, language, type: 0, link, expires });
      await this.audit.record(tx, 'USER_INVITED', { userId: user.uid });
      return { link, expires, mailed: to !== null };
    });
  }
}
