import { Injectable } from '@nestjs/common';
import { DomainError } from '../../shared/errors/domain-error';
import { resetRequestedTooOften } from '../../shared/errors/error-catalogue';
import { AppConfig } from '../../platform/config/app-config';
import { Cooldowns } from '../../platform/database/cooldowns';
import type { Transaction } from '../../platform/database/database';

/** One reset request per `RESET_REQUEST_THROTTLE_SECONDS`, for each user and for each e-mail address without a user. */
@Injectable()
export class RequestThrottle {
  constructor(
    private readonly cooldowns: Cooldowns,
    private readonly config: AppConfig,
  ) {}

  /**
   * Must be the first statement of the transaction. Racers: parallel requests on any replica. One wins; the others wait
   * for its commit and get AUTH_429002.
   * @throws DomainError AUTH_429002 with the remaining seconds
   */
  async enter(tx: Transaction, subject: string): Promise<void> {
    const entry = await this.cooldowns.tryEnter(tx, subject, 'reset', this.config.reset.throttleSeconds);
    if (!entry.entered) throw new DomainError(resetRequestedTooOften, { retry_after: entry.retryAfter });
  }
}
