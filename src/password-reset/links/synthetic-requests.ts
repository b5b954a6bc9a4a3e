import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { resetRequestedTooOften } from '../../shared/errors/error-catalogue';
import { identityKey } from '../../shared/identity-key';
import { Random } from '../../shared/random';
import { LogSink } from '../../audit/log-sink';
import { ResetSettings } from '../reset-settings';
import { KeyRing } from '../../platform/crypto/key-ring';
import { Cooldowns, type Gated } from '../../platform/database/cooldown.repository';
import { changeType } from '../../shared/change-type';
import { UsersRepository } from '../../users/users.repository';
import { type RequestSummary, requestStatus } from '../persistence/password-change-request.entity';
import { PasswordChangeRequestRepository } from '../persistence/password-change-request.repository';

/**
 * `HIDE_ACCOUNT_EXISTENCE`: the answer for an e-mail address without an account. The throttle, the fields and the
 * numbers of reads, writes and commits equal those of a real request. Only the gate row is written
 * (docs/spec/attacks.md#w11). A synthetic request has no token, and no answer has a login name: only the holder of a
 * mailed link is told one, and nobody gets a link to a synthetic request.
 */
@Injectable()
export class SyntheticRequests {
  constructor(
    private readonly requests: PasswordChangeRequestRepository,
    private readonly users: UsersRepository,
    private readonly cooldowns: Cooldowns,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly reset: ResetSettings,
    @Optional() private readonly sink?: LogSink,
  ) {}

  /** @throws DomainError AUTH_429002, as for an existing account */
  async open(email: string): Promise<RequestSummary> {
    const key = identityKey(email);
    const subject = this.keys.mac('reset-throttle', key);
    const userId = uuidOf(this.keys.mac('synthetic-user', key));
    return this.cooldowns.once(
      { kind: 'reset', subject, seconds: this.reset.throttleSeconds, refusal: resetRequestedTooOften },
      async (tx) => {
        await this.users.resetState(tx, userId);
        const type = changeType.forgotten;
        await this.requests.supersede(tx, userId, type);
        await this.standIn(tx, subject);
        const createdAt = this.clock.now();
        const expired = new Date(createdAt.getTime() + this.reset.ttlSeconds * 1000);
        return { uid: this.random.uuid(), userId, type, status: requestStatus.pending, expired, createdAt };
      },
    );
  }

  /**
   * Writes the gate row once for each insert of a real request: request, mail, audit row, and the events of this row
   * (`WEBHOOK_URL`, `EVENT_RECEIVERS`). A read would be faster than an insert, and would leave the commit less to write.
   */
  private async standIn(tx: Gated<'reset'>, subject: string): Promise<void> {
    const inserts = 3 + (this.sink?.addedRows ?? 0);
    for (let i = 0; i < inserts; i++) await this.cooldowns.touch(tx, { kind: 'reset', subject });
  }
}

/**
 * 122 bits of the hash in the form of a UUID version 4 (RFC 9562). Nobody can distinguish it from a random UUID.
 */
function uuidOf(hash: string): string {
  const variant = '89ab'[Number.parseInt(hash[16]!, 16) % 4]!;
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `4${hash.slice(13, 16)}`, `${variant}${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join('-');
}
