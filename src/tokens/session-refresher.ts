import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { refreshTokenRejected } from '../shared/errors/error-catalogue';
import { Random } from '../shared/random';
import { AuditTrail } from '../audit/audit-trail';
import { AppConfig } from '../platform/config/app-config';
import { Database, type Transaction } from '../platform/database/database';
import type { PresentedToken } from './current-session';
import { TokenSigner } from './jwt/token-signer';
import { LoginTokens, type NewToken, type Scope, type Succession } from './persistence/login-tokens';
import type { TokenPayload, TokenUse } from './token-payload';

export interface RefreshedTokens {
  readonly accessToken: string;
  /** Undefined without rotation: the one presented stays in use. */
  readonly refreshToken: string | undefined;
  readonly expiresIn: number;
}

interface ScopedToken extends PresentedToken {
  readonly scope: Scope;
}

interface RotatedSession extends ScopedToken {
  readonly credentialVersion: number;
  /** When the presented token's row expires: its successors keep it. */
  readonly expires: Date;
}

/** What the one transaction of a rotation decided. */
type Rotation = { readonly successor: string; readonly issuedAt: Date } | 'reused' | 'ended';

/**
 * `POST /refresh` (§4.6). Nothing is locked against a logout, a password change or a disabling of the same instant: the
 * new row is born dead when its session or its user's version has been ended (ADR 0005).
 */
@Injectable()
export class SessionRefresher {
  private readonly logger = new Logger('tokens');

  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly signer: TokenSigner,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly config: AppConfig,
  ) {}

  /**
   * @param presented a refresh token whose signature and claims are good; its row is judged here
   * @throws DomainError AUTH_401006 when the row, its session or its user is not good any more
   */
  async refresh(presented: PresentedToken, client: ClientInfo): Promise<RefreshedTokens> {
    if (this.config.jwt.rotation) return this.refreshByRotation(presented, client);
    const access = this.newAccessToken(presented);
    const scope = await this.tokens.insertFrom(presented.payload, access);
    if (scope === undefined) throw new DomainError(refreshTokenRejected);
    return this.answer({ ...presented, scope }, access, undefined);
  }

  private async refreshByRotation(presented: PresentedToken, client: ClientInfo): Promise<RefreshedTokens> {
    const row = await this.tokens.find(presented.payload);
    if (!row?.live) throw new DomainError(refreshTokenRejected);
    const { credentialVersion, expires, user: scope } = row;
    const session: RotatedSession = { ...presented, credentialVersion, expires, scope };
    const access = this.newAccessToken(presented);
    const rotation = await this.database.transaction((tx) => this.rotate(tx, session, access));
    if (rotation === 'ended') throw new DomainError(refreshTokenRejected);
    if (rotation === 'reused') return this.endFamily(session, client);
    const refresh = this.sign(session, 'refresh', rotation.successor, session.expires, rotation.issuedAt);
    return this.answer(session, access, refresh);
  }

  /**
   * Racers: parallel refreshes with one token. The winner names the successor and inserts it in the same unit; who comes
   * within the grace, while that successor is still unused, gets the same one again (a lost answer, two tabs). A logout
   * that commits after the check leaves a revoked token without a successor: nobody has used it, the session has ended.
   * Anything else is a reuse, also by the grandparent of the token in use (RFC 9700 §4.14.2).
   */
  private async rotate(tx: Transaction, session: RotatedSession, access: NewToken): Promise<Rotation> {
    const { jti } = session.payload;
    const { createdAt } = access;
    const successor: NewToken = { jti: this.random.uuid(), use: 'refresh', createdAt, expires: session.expires };
    if (await this.tokens.claimSuccession(tx, jti, successor.jti)) {
      await this.tokens.insert(tx, this.keyOf(session), [successor, access]);
      return { successor: successor.jti, issuedAt: createdAt };
    }
    const parent = await this.tokens.succession(tx, jti);
    const claimed = parent?.successorJti;
    if (!claimed) return 'ended';
    const next = await this.tokens.succession(tx, claimed);
    if (next === undefined || next.successorJti !== null || !this.withinGrace(parent)) return 'reused';
    await this.tokens.insert(tx, this.keyOf(session), [access]);
    return { successor: claimed, issuedAt: next.createdAt };
  }

  private withinGrace(parent: Succession | undefined): boolean {
    const since = this.clock.secondsFromNow(-this.config.jwt.reuseGraceSeconds);
    return parent?.succeededAt != null && parent.succeededAt >= since;
  }

  private async endFamily(session: PresentedToken, client: ClientInfo): Promise<never> {
    const { sub: userId, sid } = session.payload;
    await this.database.transaction(async (tx) => {
      await this.tokens.revokeSession(tx, sid);
      await this.audit.record(tx, 'REFRESH_TOKEN_REUSED', { userId, client, detail: { sid } });
    });
    this.logger.warn({ requestId: client.requestId, userId, sid }, 'a refresh token was reused, its session is closed');
    throw new DomainError(refreshTokenRejected);
  }

  /** A session ends with its first refresh token: no access token outlives it. */
  private newAccessToken({ payload }: PresentedToken): NewToken {
    const createdAt = this.clock.now();
    const expires = new Date(createdAt.getTime() + this.config.jwt.accessTtlSeconds * 1000);
    const end = new Date(payload.exp * 1000);
    return { jti: this.random.uuid(), use: 'access', createdAt, expires: expires < end ? expires : end };
  }

  private answer(session: ScopedToken, access: NewToken, refreshToken: string | undefined): RefreshedTokens {
    const { createdAt, expires } = access;
    return {
      accessToken: this.sign(session, 'access', access.jti, expires, createdAt),
      refreshToken,
      expiresIn: Math.max(0, Math.floor((expires.getTime() - createdAt.getTime()) / 1000)),
    };
  }

  /** The scope is that of the user's row, not of the presented token: a session lasts for days, and people are moved. */
  private sign({ payload, scope }: ScopedToken, use: TokenUse, jti: string, expires: Date, issuedAt: Date): string {
    const { sub, sid, amr } = payload;
    const { tenantId: tenant_id, orgUnitId: org_unit_id } = scope;
    const times = { iat: Math.floor(issuedAt.getTime() / 1000), exp: Math.floor(expires.getTime() / 1000) };
    return this.signer.sign({ sub, sid, jti, token_use: use, tenant_id, org_unit_id, amr, ...times } satisfies Omit<
      TokenPayload,
      'iss' | 'aud'
    >);
  }

  private keyOf({ payload, credentialVersion }: RotatedSession) {
    return { userId: payload.sub, sid: payload.sid, credentialVersion };
  }
}
