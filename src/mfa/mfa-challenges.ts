import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { codeSentTooOften } from '../shared/errors/error-catalogue';
import { AppConfig } from '../platform/config/app-config';
import { Cooldowns } from '../platform/database/cooldowns';
import { Database } from '../platform/database/database';
import { PendingLogins } from '../tokens/pending-logins';
import type { MfaType, User } from '../users/user.entity';
import { EmailCodes } from './codes/email-codes';

export interface Challenge {
  readonly channel: MfaType;
  /** For the login's answer: whoever holds it owns the pending login. */
  readonly mfaToken: string;
}

/** Login's door to the second factor: after a right credential it opens the one pending login of the user (§1.4, §4.1). */
@Injectable()
export class MfaChallenges {
  constructor(
    private readonly database: Database,
    private readonly pendingLogins: PendingLogins,
    private readonly codes: EmailCodes,
    private readonly cooldowns: Cooldowns,
    private readonly config: AppConfig,
  ) {}

  /** `MFA_REQUIRED`: for everybody or for nobody, there is no exception for a tenant or a user. */
  get required(): boolean {
    return this.config.mfa.required;
  }

  /** @throws DomainError MFA_429001 within the cooldown of the former code, which stays good, and its login with it. */
  async open(user: User, client: ClientInfo): Promise<Challenge> {
    if (channelOf(user) === 'email') return this.openByEmail(user, client);
    const { mfaToken } = await this.pendingLogins.open(this.database, user, 'totp', client.ip);
    return { channel: 'totp', mfaToken };
  }

  /** The gate first: of parallel logins one sends a mail, and it also puts them in order for everything after it. */
  private async openByEmail(user: User, client: ClientInfo): Promise<Challenge> {
    await this.cooldowns.ensureGate(user.uid, 'otp');
    return this.database.transaction(async (tx) => {
      const entry = await this.cooldowns.tryEnter(tx, user.uid, 'otp', this.config.mfa.cooldownSeconds);
      if (!entry.entered) throw new DomainError(codeSentTooOften, { retry_after: entry.retryAfter });
      const { pending, mfaToken } = await this.pendingLogins.open(tx, user, 'email', client.ip);
      await this.codes.issue(tx, user, pending, client);
      return { channel: 'email', mfaToken };
    });
  }
}

/** Without a confirmed secret codes go by mail, so that a user can get in and enrol (decisions.md 3). */
function channelOf(user: User): MfaType {
  return user.mfaType === 'totp' && user.totpSecret !== null ? 'totp' : 'email';
}
