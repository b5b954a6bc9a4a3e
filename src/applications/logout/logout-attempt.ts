import { Injectable, Logger } from '@nestjs/common';
import { ServiceSettings } from '../../platform/config/service-settings';
import { retryAt } from '../../platform/outbox/back-off';
import { timeOf } from '../../platform/database/sql';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import { Random } from '../../shared/random';
import { OpenIdSettings } from '../openid-settings';
import {
  applicationDeleted,
  ApplicationLogouts,
  type ClaimedLogout,
  type Settled,
} from '../persistence/application-logout.repository';
import { guardedPost } from './guarded-post';
import { LogoutCounts } from './logout-counts';
import { LogoutLimits } from './logout-limits';
import { logoutToken } from './logout-token';

export type Outcome =
  | { readonly kind: 'settled'; readonly settled: Settled }
  | { readonly kind: 'postponed'; readonly again: Date; readonly answer: string };

const settled = (status: Settled['status'], answer: string | null): Outcome => ({
  kind: 'settled',
  settled: { status, answer },
});

/** Makes one attempt to send a logout token. It never logs the URI or the token. */
@Injectable()
export class LogoutAttempt {
  private readonly logger = new Logger('logouts');
  private readonly losses = new LogThrottle();

  constructor(
    private readonly logouts: ApplicationLogouts,
    private readonly settings: OpenIdSettings,
    private readonly service: ServiceSettings,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly limits: LogoutLimits,
    private readonly counts: LogoutCounts,
  ) {}

  async make(row: ClaimedLogout, signal: AbortSignal): Promise<Outcome> {
    const uri = await this.logouts.uriOf(row);
    if (uri === undefined) return settled('failed', applicationDeleted);
    if (uri === null) return settled('not_offered', null);
    const answer = await this.post(uri, row, signal);
    if (answer === undefined) return this.judge(row, 'OIDC is off');
    // 200 is the answer of the standard, and 204 that of many receivers. Both mean that the session has ended there.
    if (answer.accepted) {
      this.counts.add('told');
      return settled('told', answer.text);
    }
    return this.judge(row, answer.text);
  }

  /** Each attempt has a token of its own, because receivers refuse an old one. The `jti` stays. */
  private async post(uri: string, row: ClaimedLogout, signal: AbortSignal) {
    const { openId } = this.settings;
    if (openId === undefined) return undefined;
    const claims = { jti: row.id, applicationId: row.application_id, userId: row.user_id, sid: row.sid };
    const form = { logout_token: logoutToken(claims, openId, this.clock.now()) };
    const outcome = await guardedPost({ url: uri, form, signal, https: this.service.production });
    if ('failure' in outcome) return { accepted: false, text: outcome.failure };
    const { status } = outcome;
    return { accepted: status >= 200 && status < 300, text: `status ${status}` };
  }

  /** Whatever the failure is, the next attempt may succeed: the application may be repaired, or get another URI. */
  private judge(row: ClaimedLogout, answer: string): Outcome {
    const now = this.clock.now();
    const createdAt = timeOf(row.created_at);
    const expires = new Date(createdAt.getTime() + this.limits.giveUpMs);
    if (now >= expires) {
      this.counts.add('failed');
      if (this.losses.allows(now)) {
        const { application_id: application, attempts } = row;
        this.logger.error({ application, attempts, answer }, 'an application was not told of the end of a session');
      }
      return settled('failed', answer);
    }
    this.counts.add('postponed');
    const again = retryAt({ createdAt, expires }, now, this.limits.retryCapMs, this.random);
    return { kind: 'postponed', again, answer };
  }
}
