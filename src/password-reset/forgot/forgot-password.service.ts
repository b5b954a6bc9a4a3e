import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { emailNotFound, resetRequestedTooOften } from '../../shared/errors/error-catalogue';
import type { Language } from '../../shared/languages';
import { AuditTrail } from '../../audit/audit-trail';
import { Mailer } from '../../mail/mailer';
import { AppConfig } from '../../platform/config/app-config';
import { Cooldowns } from '../../platform/database/cooldowns';
import type { Transaction } from '../../platform/database/database';
import { type User, userStatus } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { PasswordChangeRequests } from '../password-change-requests';
import type { RequestSummary } from './request-summary';
import { resetLink } from './reset-link';
import { SyntheticRequests } from './synthetic-requests';

type Owner = User & { readonly email: string };

/** `POST /forget-password`: throttle, superseding, request, mail and audit row are one transaction (ADR 0009). */
@Injectable()
export class ForgotPasswordService {
  constructor(
    private readonly users: UsersRepository,
    private readonly changeRequests: PasswordChangeRequests,
    private readonly synthetic: SyntheticRequests,
    private readonly cooldowns: Cooldowns,
    private readonly mailer: Mailer,
    private readonly audit: AuditTrail,
    private readonly config: AppConfig,
  ) {}

  /** @throws DomainError AUTH_404002 (unless HIDE_ACCOUNT_EXISTENCE is set), AUTH_429002 with the seconds to wait */
  async request(email: string, language: Language, client: ClientInfo): Promise<RequestSummary> {
    const user = await this.users.findByEmail(email);
    if (user === null || !mayReset(user)) return this.answerUnknown(email);
    return this.cooldowns.once(
      { kind: 'reset', subject: user.uid, seconds: this.config.reset.throttleSeconds, refusal: resetRequestedTooOften },
      (tx) => this.open(tx, user, language, client),
    );
  }

  private async answerUnknown(email: string): Promise<RequestSummary> {
    if (this.config.hideAccountExistence) return this.synthetic.open(email);
    throw new DomainError(emailNotFound);
  }

  private async open(tx: Transaction, user: Owner, language: Language, client: ClientInfo): Promise<RequestSummary> {
    // Read while the gate row is held: a password change that has just committed must not invalidate the new link.
    const credentialVersion = (await this.users.credentialVersion(tx, user.uid)) ?? user.credentialVersion;
    const owner = { uid: user.uid, credentialVersion };
    const { request, token } = await this.changeRequests.openIn(tx, owner, 2, this.config.reset.ttlSeconds);
    await this.mailer.queueResetLink(tx, {
      to: user.email,
      nickname: user.nickname,
      language,
      type: 2,
      link: resetLink(this.config.systemUrl, token, language),
      expires: request.expired,
    });
    await this.audit.record(tx, 'USER_RESET_PASSWORD', { userId: user.uid, client });
    return request;
  }
}

/** Disabled users and directory users get no reset (docs/spec/decisions.md#reset-request). */
function mayReset(user: User): user is Owner {
  return user.email !== null && user.status !== userStatus.disabled && user.provider === 'password';
}
