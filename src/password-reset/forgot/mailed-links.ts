import { Injectable } from '@nestjs/common';
import type { Language } from '../../shared/languages';
import { Mailer } from '../../mail/mailer';
import { AppConfig } from '../../platform/config/app-config';
import type { Gated } from '../../platform/database/cooldowns';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { PasswordChangeRequests } from '../password-change-requests';
import type { PasswordChangeRequest } from '../persistence/password-change-request.entity';
import type { RequestType } from '../../shared/change-type';

export interface LinkOptions {
  /** Null for a user without a usable address. The request is then opened, and its link is not mailed. */
  readonly to: string | null;
  readonly type: RequestType;
  readonly ttlSeconds: number;
  readonly language: Language;
}

/** Opens a change request whose link goes to the user by mail, in one transaction: forgotten passwords, invitations. */
@Injectable()
export class MailedLinks {
  constructor(
    private readonly requests: PasswordChangeRequests,
    private readonly users: UsersRepository,
    private readonly mailer: Mailer,
    private readonly config: AppConfig,
  ) {}

  async open(
    tx: Gated<'reset'>,
    user: User,
    { to, type, ttlSeconds, language }: LinkOptions,
  ): Promise<{ readonly request: PasswordChangeRequest; readonly link: string }> {
    // Read under the lock of the gate row: a password change that has just committed must not invalidate the new link.
    const { credentialVersion, hasPasskeys: passkeys } = (await this.users.resetState(tx, user.uid)) ?? {
      credentialVersion: user.credentialVersion,
      hasPasskeys: false,
    };
    const { request, token } = await this.requests.open(tx, { uid: user.uid, credentialVersion }, type, ttlSeconds);
    // The base is `SYSTEM_URL` only, never a header of the request (docs/spec/attacks.md#w29).
    const link = `${this.config.systemUrl}/reset-password?uid=${token}&lang=${language}`;
    const { uid: userId, nickname } = user;
    if (to !== null) {
      await this.mailer.queueResetLink(tx, {
        ...{ userId, to, nickname, language, type, link, passkeys },
        expires: request.expired,
      });
    }
    return { request, link };
  }
}
