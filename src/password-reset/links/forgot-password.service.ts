import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { emailNotFound, resetRequestedTooOften } from '../../shared/errors/error-catalogue';
import { type Language, languageFor } from '../../shared/languages';
import { AuditTrail } from '../../audit/audit-trail';
import { PrivacySettings } from '../../users/account-settings';
import { ResetSettings } from '../reset-settings';
import { Cooldowns } from '../../platform/database/cooldown.repository';
import { changeType } from '../../shared/change-type';
import { type User, userStatus } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import type { RequestSummary } from '../persistence/password-change-request.entity';
import { MailedLinks } from './mailed-links';
import { SyntheticRequests } from './synthetic-requests';

/**
 * `POST /forget-password`. One transaction checks the throttle, supersedes older requests, and writes the request, the
 * mail and the audit row (ADR 0009).
 */
@Injectable()
export class ForgotPasswordService {
  constructor(
    private readonly users: UsersRepository,
    private readonly links: MailedLinks,
    private readonly synthetic: SyntheticRequests,
    private readonly cooldowns: Cooldowns,
    private readonly audit: AuditTrail,
    private readonly privacy: PrivacySettings,
    private readonly reset: ResetSettings,
  ) {}

  /** @throws DomainError AUTH_404002 (unless HIDE_ACCOUNT_EXISTENCE is set), AUTH_429002 with the seconds to wait */
  async request(email: string, language: Language, client: ClientInfo): Promise<RequestSummary> {
    const user = await this.users.findByEmail(email);
    const summary = user !== null && mayReset(user) ? await this.open(user, language, client) : undefined;
    if (summary !== undefined) return summary;
    if (this.privacy.hideAccountExistence) return this.synthetic.open(email);
    throw new DomainError(emailNotFound);
  }

  /** Returns undefined, without a change, when the user was deleted or lost the address after the read. */
  private async open(user: User, language: Language, client: ClientInfo): Promise<RequestSummary | undefined> {
    const { throttleSeconds: seconds, ttlSeconds } = this.reset;
    // Anybody can ask for the link, in any language.
    const own = languageFor(user.language, language);
    const gone = new Error('the user has no address any more');
    try {
      return await this.cooldowns.once(
        { kind: 'reset', subject: user.uid, seconds, refusal: resetRequestedTooOften },
        async (tx) => {
          const opened = await this.links.open(tx, user, { type: changeType.forgotten, ttlSeconds, language: own });
          // Rolls back, so that no cooldown starts.
          if (opened?.mailed !== true) throw gone;
          await this.audit.record(tx, 'USER_RESET_PASSWORD', { userId: user.uid, client });
          return opened.request;
        },
      );
    } catch (error) {
      if (error === gone) return undefined;
      throw error;
    }
  }
}

/** Disabled users and directory users get no reset (docs/spec/decisions.md#reset-request). */
function mayReset(user: User): boolean {
  return user.email !== null && user.status !== userStatus.disabled && user.provider === 'password';
}
