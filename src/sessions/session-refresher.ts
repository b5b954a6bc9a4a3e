import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { refreshTokenRejected } from '../shared/errors/error-catalogue';
import { AuditTrail } from '../audit/audit-trail';
import { JwtSettings } from './jwt-settings';
import { Database, type Transaction } from '../platform/database/database';
import type { PresentedToken } from './current-session';
import { DirectoryRecheck } from './directory-recheck';
import { type SessionClaims, TokenIssuer } from './jwt/token-issuer';
import type { LoginToken } from './persistence/login-token.entity';
import { LoginTokens, type NewToken, type Scope, type SessionKey } from './persistence/login-token.repository';
import { SessionRows } from './persistence/session-rows';
import type { TokenPayload } from './token-payload';

export interface RefreshedTokens {
  readonly accessToken: string;
  /** Undefined without rotation: the presented token stays in use. */
  readonly refreshToken: string | undefined;
  readonly expiresIn: number;
}

interface RotatedSession extends SessionClaims, SessionKey {
  /** When the row of the presented token expires. Its successors keep this time. */
  readonly expires: Date;
}

/** The result of a rotation: the successor, or the reason why there is none. */
type Rotation = NewToken | 'reused' | 'ended';

/**
 * `POST /refresh` (docs/spec/decisions.md#4). A refresh takes no lock against a parallel logout, password change or
 * disabling: its new token is not usable once the session or the credential version has ended (ADR 0005).
 */
@Injectable()
export class SessionRefresher {
  private readonly logger = new Logger('tokens');

  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly issuer: TokenIssuer,
    private readonly audit: AuditTrail,
    private readonly recheck: DirectoryRecheck,
    private readonly rows: SessionRows,
    private readonly clock: Clock,
    private readonly settings: JwtSettings,
  ) {}

  /**
   * @param presented a refresh token with a good signature and good claims; its row is checked here
   * @throws DomainError AUTH_401006 when the token, its session or its user is no longer valid; LOGIN_503001 when the
   *   directory does not answer about its user for too long
   */
  async refresh({ payload }: PresentedToken, client: ClientInfo): Promise<RefreshedTokens> {
    const access = this.issuer.newAccessToken(new Date(payload.exp * 1000));
    if (this.settings.rotation) return this.refreshByRotation(payload, access, client);
    const user = await this.tokens.insertFrom(payload, access);
    if (user === undefined) throw new DomainError(refreshTokenRejected);
    if (user.crowded) this.rows.trimLater(payload.sid);
    const { directorySeenAt } = user;
    if (this.recheck.isDue(directorySeenAt)) await this.recheck.assertStanding(payload, directorySeenAt, client);
    return this.answer(claimsOf(payload, user, user), access, undefined);
  }

  private async refreshByRotation(
    payload: TokenPayload,
    access: NewToken,
    client: ClientInfo,
  ): Promise<RefreshedTokens> {
    const row = await this.tokens.findForRotation(payload);
    if (row === undefined) return this.refuseUnknown(payload, client);
    if (!row.live) throw new DomainError(refreshTokenRejected);
    if (row.crowded) this.rows.trimLater(payload.sid);
    const { credentialVersion, expires, directorySeenAt } = row;
    if (this.recheck.isDue(directorySeenAt)) await this.recheck.assertStanding(payload, directorySeenAt, client);
    const session: RotatedSession = { ...claimsOf(payload, row.user, row), credentialVersion, expires };
    const rotation = await this.database.transaction((tx) => this.rotate(tx, payload.jti, session, access));
    if (rotation === 'ended') throw new DomainError(refreshTokenRejected);
    if (rotation === 'reused') return this.endSession(session, client);
    return this.answer(session, access, await this.issuer.sign(session, rotation, this.database));
  }

  /**
   * Race: parallel refreshes with one token, on any replica. The first one claims the succession and inserts the
   * successor in the same transaction. Within the grace period the others get the same successor while it is unused,
   * because a client may lose an answer or have two tabs. Every other use is a reuse and ends the session (RFC 9700
   * §4.14.2), also the use of a token two generations back. A logout that commits after the check leaves a revoked
   * token without a successor: the session has ended, and nothing was reused.
   */
  private async rotate(tx: Transaction, jti: string, session: RotatedSession, access: NewToken): Promise<Rotation> {
    const successor = this.issuer.newRefreshToken(session.expires, access.createdAt);
    if (await this.tokens.claimSuccession(tx, jti, successor.jti)) {
      await this.tokens.insert(tx, session, [successor, access]);
      return successor;
    }
    const parent = await this.tokens.findRow(jti, tx);
    const claimed = parent?.successorJti;
    if (!claimed) return 'ended';
    const next = await this.tokens.findRow(claimed, tx);
    if (next === null || next.successorJti !== null || !this.withinGrace(parent)) return 'reused';
    await this.tokens.insert(tx, session, [access]);
    return { ...successor, jti: claimed, createdAt: next.createdAt };
  }

  private withinGrace(parent: LoginToken): boolean {
    const since = this.clock.secondsFromNow(-this.settings.reuseGraceSeconds);
    return parent.succeededAt !== null && parent.succeededAt >= since;
  }

  /**
   * The token has our signature, so its row was removed: either the session was, or the row was one of very many
   * (SessionRows). Only refresh tokens that have a successor are removed from a session that lives, so this is a reuse.
   */
  private async refuseUnknown(payload: TokenPayload, client: ClientInfo): Promise<never> {
    const first = await this.tokens.find({ ...payload, jti: payload.sid });
    if (!first?.live) throw new DomainError(refreshTokenRejected);
    return this.endSession({ userId: payload.sub, sid: payload.sid }, client);
  }

  private async endSession({ userId, sid }: Pick<SessionKey, 'userId' | 'sid'>, client: ClientInfo): Promise<never> {
    await this.database.transaction(async (tx) => {
      await this.tokens.revokeSession(tx, sid);
      await this.audit.record(tx, 'REFRESH_TOKEN_REUSED', { userId, client, detail: { sid } });
    });
    this.logger.warn({ requestId: client.requestId, userId, sid }, 'a refresh token was reused, its session is closed');
    throw new DomainError(refreshTokenRejected);
  }

  private async answer(
    session: SessionClaims,
    access: NewToken,
    refreshToken: string | undefined,
  ): Promise<RefreshedTokens> {
    const livesMs = access.expires.getTime() - access.createdAt.getTime();
    return {
      accessToken: await this.issuer.sign(session, access, this.database),
      refreshToken,
      expiresIn: Math.max(0, Math.floor(livesMs / 1000)),
    };
  }
}

/**
 * The scope comes from the row of the user, who may have moved to another tenant since the session was opened. The time of the
 * last credential check comes from the first row of the session, because the presented token does not have it. The key is that of
 * the presented token, whose possession was proven.
 */
function claimsOf(
  { sub, sid, amr, cnf }: TokenPayload,
  { tenantId, orgUnitId }: Scope,
  { authenticatedAt }: Pick<SessionClaims, 'authenticatedAt'>,
): SessionClaims {
  return { userId: sub, sid, amr, tenantId, orgUnitId, authenticatedAt, boundTo: cnf?.jkt };
}
