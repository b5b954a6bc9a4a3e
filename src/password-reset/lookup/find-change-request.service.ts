import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { resetRequestExpired, resetRequestUsed, resetTokenUnknown } from '../../shared/errors/error-catalogue';
import { Database } from '../../platform/database/database';
import type { Sql } from '../../platform/database/sql';
import { type FoundRequest, PasswordChangeRequestRepository } from '../persistence/password-change-request.repository';

/** Finds the usable request of a link. It only reads: mail scanners open links too (docs/spec/attacks.md#w28). */
@Injectable()
export class FindChangeRequestService {
  constructor(
    private readonly database: Database,
    private readonly requests: PasswordChangeRequestRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param sql the current transaction, when the read must see its changes
   * @throws DomainError AUTH_401003 unknown or malformed, AUTH_401007 used (even if expired too), AUTH_401005 expired
   */
  async find(token: string, sql: Sql = this.database): Promise<FoundRequest> {
    const request = await this.requests.findByToken(sql, token);
    if (request === undefined) throw new DomainError(resetTokenUnknown);
    if (!request.open) throw new DomainError(resetRequestUsed);
    if (request.expired < this.clock.now()) throw new DomainError(resetRequestExpired);
    return request;
  }
}
