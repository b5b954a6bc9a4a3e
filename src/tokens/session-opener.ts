import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { LoginJournal } from '../audit/login-journal';
import { AppConfig } from '../platform/config/app-config';
import { Database, type Transaction } from '../platform/database/database';
import type { MfaType, User } from '../users/user.entity';
import { TokenSigner } from './jwt/token-signer';
import { LoginTokens } from './persistence/login-tokens';
import type { AuthenticationMethod } from './token-payload';

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A successful login becomes a session: two `login_tokens` rows and one `login_logs` row, one unit, and the JWT pair. */
@Injectable()
export class SessionOpener {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly signer: TokenSigner,
    private readonly journal: LoginJournal,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly config: AppConfig,
  ) {}

  /** @param mfa the second factor that was passed, or null where none was asked for. */
  open(user: User, client: ClientInfo, mfa: MfaType | null): Promise<TokenPair> {
    return this.database.transaction((tx) => this.openIn(tx, user, client, mfa));
  }

  /** The same within the caller's unit: a code is spent and its session opened together, or neither. */
  async openIn(tx: Transaction, user: User, client: ClientInfo, mfa: MfaType | null): Promise<TokenPair> {
    const { accessTtlSeconds, refreshTtlSeconds } = this.config.jwt;
    const sid = this.random.uuid();
    const createdAt = this.clock.now();
    const after = (ttlSeconds: number) => new Date(createdAt.getTime() + ttlSeconds * 1000);
    const access = {
      jti: this.random.uuid(),
      use: 'access' as const,
      createdAt,
      expires: after(Math.min(accessTtlSeconds, refreshTtlSeconds)),
    };
    const refresh = { jti: sid, use: 'refresh' as const, createdAt, expires: after(refreshTtlSeconds) };
    await this.tokens.insert(tx, { userId: user.uid, sid, credentialVersion: user.credentialVersion }, [
      access,
      refresh,
    ]);
    await this.journal.succeeded(
      tx,
      { userId: user.uid, loginName: user.loginName, provider: user.provider, mfa },
      client,
    );
    const amr: AuthenticationMethod[] = mfa === null ? ['pwd'] : ['pwd', 'otp'];
    const shared = {
      sub: user.uid,
      sid,
      iat: seconds(createdAt),
      tenant_id: user.tenantId,
      org_unit_id: user.orgUnitId,
      amr,
    };
    return {
      accessToken: this.signer.sign({ ...shared, jti: access.jti, token_use: 'access', exp: seconds(access.expires) }),
      refreshToken: this.signer.sign({ ...shared, jti: sid, token_use: 'refresh', exp: seconds(refresh.expires) }),
    };
  }
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
