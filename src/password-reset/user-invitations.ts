import { Injectable } from '@nestjs/common';
import type { Language } from '../shared/languages';
import { usableAddress } from '../shared/mail-address';
import { AuditTrail } from '../audit/audit-trail';
import { AppConfig } from '../platform/config/app-config';
import { Cooldowns } from '../platform/database/cooldowns';
import { changeType } from '../shared/change-type';
import { AccountProblem } from '../users/user-accounts';
import { type User, userStatus } from '../users/user.entity';
import { MailedLinks } from './forgot/mailed-links';

export interface Invitation {
  readonly link: string;
  readonly expires: Date;
  /** False for a user without a usable e-mail address. */
  readonly mailed: boolean;
}

/** Lets an operator invite a user to choose the first password, with a request that has a longer lifetime. */
@Injectable()
export class UserInvitations {
  constructor(
    private readonly links: MailedLinks,
    private readonly cooldowns: Cooldowns,
    private readonly audit: AuditTrail,
    private readonly config: AppConfig,
  ) {}

  /** @throws AccountProblem for a disabled user and for a directory user */
  async invite(user: User, language: Language): Promise<Invitation> {
    if (user.provider !== 'password') throw new AccountProblem('a directory user has no password in this service');
    if (user.status === userStatus.disabled) throw new AccountProblem('the account is disabled');
    const to = usableAddress(user.email);
    const options = { to, type: changeType.first, ttlSeconds: this.config.reset.inviteTtlSeconds, language };
    return this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, async (tx) => {
      const { request, link } = await this.links.open(tx, user, options);
      await this.audit.record(tx, 'USER_INVITED', { userId: user.uid });
      return { link, expires: request.expired, mailed: to !== null };
    });
  }
}
