import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { codeSentTooOften, resendTypeInvalid } from '../../shared/errors/error-catalogue';
import { MfaSettings } from '../mfa-settings';
import { Cooldowns } from '../../platform/database/cooldown.repository';
import { PendingLogins } from '../../sessions/pending-login.repository';
import { codeRefused } from './code-attempts';
import { EmailCodes } from './email-codes';

export interface ResendRequest {
  readonly uid: string;
  /** The unvalidated value of the request body. */
  readonly type: unknown;
  readonly mfaToken: string | undefined;
}

/**
 * `POST /otp-resend`: sends a new code for the pending login; used attempts stay used. Without a pending login nothing
 * is sent and no cooldown starts, so a stranger cannot keep a user from logging in (docs/spec/attacks.md#w35).
 */
@Injectable()
export class OtpResendService {
  constructor(
    private readonly pendingLogins: PendingLogins,
    private readonly codes: EmailCodes,
    private readonly cooldowns: Cooldowns,
    private readonly settings: MfaSettings,
  ) {}

  /** @returns the seconds until another code can be sent */
  async resend({ uid, type, mfaToken }: ResendRequest, client: ClientInfo): Promise<number> {
    if (type !== 'email') throw new DomainError(resendTypeInvalid);
    const found = await this.pendingLogins.find(uid, { mfaToken, ip: client.ip });
    if (found?.pending.channel !== 'email') throw codeRefused('email');
    const { pending, user } = found;
    const { cooldownSeconds } = this.settings;
    await this.cooldowns.once(
      { kind: 'otp', subject: user.uid, seconds: cooldownSeconds, refusal: codeSentTooOften },
      async (tx) => {
        if (!(await this.codes.issue(tx, user, pending, client))) throw codeRefused('email');
      },
    );
    return cooldownSeconds;
  }
}
