import { Injectable } from '@nestjs/common';
import { DomainError } from '../../shared/errors/domain-error';
import { resetRequestedTooOften } from '../../shared/errors/error-catalogue';
import { AppConfig } from '../../platform/config/app-config';
import { Cooldowns } from '../../platform/database/cooldowns';
import type { Transaction } from '../../platform/database/database';

/** §8: one reset request in `RESET_REQUEST_THROTTLE_SECONDS`, for each user, or for each address that is nobody's. */
@Injectable()
export class RequestThrottle {
  constructor(
    private readonly cooldowns: Cooldowns,
    private readonly config: AppConfig,
  ) {}

  /**
   * The first statement of the unit. Racers: parallel requests on any replica; one enters, the others wait for its commit
   * and lose. @throws DomainError AUTH_429002 with the remaining seconds.
   */
  async enter(tx: Transaction, subject: string): Promise<void> {
    const entry = await this.cooldowns.tryEnter(tx, subject, 'reset', this.config.reset.throttleSeconds);
    if (!entry.entered) throw new DomainError(resetRequestedTooOften, { retry_after: entry.retryAfter });
  }
}
