import { Injectable } from '@nestjs/common';
import type { Language } from '../../shared/languages';
import { usableAddress } from '../../shared/mail-address';
import { Mailer } from '../../mail/mailer';
import { ServiceSettings } from '../../platform/config/service-settings';
import type { Gated } from '../../platform/database/cooldown.repository';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { PasswordChangeRequests } from '../password-change-requests';
import type { PasswordChangeRequest } from '../persistence/password-change-request.entity';
import type { RequestType } from '../../shared/change-type';

export interface LinkOptions {
  readonly type: RequestType;
  readonly ttlSeconds: number;
  readonly language: Language;
}

export interface MailedLink {
  readonly request: PasswordChangeRequest;
  readonly link: string;
  /** False for a user without a usable address. The request is then opened, and its link is not mailed. */
  readonly mailed: boolean;
}

/** Opens a change request whose link goes to the user by mail, in one transaction: forgotten passwords, invitations. */
@Injectable()
export class MailedLinks {
  constructor(
    private readonly requests: PasswordChangeRequests,
    private readonly users: UsersRepository,
    private readonly mailer: Mailer,
    private readonly settings: ServiceSettings,
  ) {}

  /**
   * Races with a password change, a new address and the deletion of the user, which all lock the gate row. The caller
   * may have read the user before one of them, so the row is read again under the lock: the link belongs to the current
   * password, and goes to the current address.
   * @returns undefined when the user was deleted; nothing is written then
   */
  async open(
    tx: Gated<'reset'>,
    { uid, loginName }: Pick<User, 'uid' | 'loginName'>,
    { type, ttlSeconds, language }: LinkOptions,
  ): Promise<MailedLink | undefined> {
    const now = await this.users.resetState(tx, uid);
    if (now === undefined) return undefined;
    const { credentialVersion, hasPasskeys: passkeys } = now;
    const { request, token } = await this.requests.open(tx, { uid, credentialVersion }, type, ttlSeconds);
    // The base is `SYSTEM_URL` only, never a header of the request (docs/spec/attacks.md#w29).
    const link = `${this.settings.systemUrl}/reset-password?uid=${token}&lang=${language}`;
    const to = usableAddress(now.email);
    if (to !== null) {
      await this.mailer.queueResetLink(tx, {
        ...{ userId: uid, to, loginName, language, type, link, passkeys },
        expires: request.expired,
      });
    }
    return { request, link, mailed: to !== null };
  }
}
