import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { qrCodeUnavailable } from '../../shared/errors/error-catalogue';
import { isUserId } from '../../shared/user-id';
import { AuditTrail } from '../../audit/audit-trail';
import { SecondFactorSettings } from '../../users/account-settings';
import { MfaSettings } from '../mfa-settings';
import type { Transaction } from '../../platform/database/database';
import type { CurrentSession } from '../../sessions/current-session';
import { type LiveSession, LiveSessions } from '../../sessions/live-sessions';
import { type User, userStatus } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import type { TotpSecret } from '../persistence/totp-secret.entity';
import { TotpSecrets } from '../persistence/totp-secret.repository';
import { SealedTotp } from '../totp/sealed-totp';

/** Greyscale and no filters: encoding blocks the event loop, and these options cut its time to a third. */
const picture = {
  type: 'png',
  errorCorrectionLevel: 'M',
  scale: 4,
  rendererOpts: { deflateLevel: 6, colorType: 0, filterType: 0 },
} as const;

export interface NewSecret {
  readonly secret: string;
  readonly uri: string;
}

export interface OpenEnrolment {
  readonly row: TotpSecret & { readonly sid: string };
  readonly user: User;
  /** The session that enrols. */
  readonly session: LiveSession;
}

/** Identifies the sender of a request: the session of the access token, if there is one, and the IP address. */
export interface EnrolmentClaim {
  readonly session: CurrentSession | null;
  readonly ip: string;
}

/**
 * Starts enrolments, and finds the open one that a request may see and confirm. A confirmed secret is never shown again
 * (docs/spec/attacks.md#w03). An enrolment ends together with the session that opened it.
 */
@Injectable()
export class OpenEnrolments {
  constructor(
    private readonly secrets: TotpSecrets,
    private readonly users: UsersRepository,
    private readonly sessions: LiveSessions,
    private readonly sealed: SealedTotp,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly mfa: MfaSettings,
    private readonly secondFactor: SecondFactorSettings,
  ) {}

  /** The transaction must hold the user's row, which serialises parallel enrolments: the last one wins. */
  async start(
    tx: Transaction,
    { uid: userId }: User,
    { payload: { sid } }: CurrentSession,
    { secret, uri }: NewSecret,
    client: ClientInfo,
  ): Promise<void> {
    const expires = this.clock.secondsFromNow(this.mfa.enrolmentTtlSeconds);
    const sealed = this.sealed.seal(secret, uri);
    await this.secrets.openEnrolment(tx, { userId, ...sealed, sid, ip: client.ip, expires });
    await this.audit.record(tx, 'TOTP_ENROLMENT_OPENED', { userId, client, detail: { sid } });
  }

  /** Returns undefined for everyone except the user who enrols, exactly as for an unknown uid. */
  async find(uid: string, claim: EnrolmentClaim): Promise<OpenEnrolment | undefined> {
    if (!isUserId(uid)) return undefined;
    const [row, user] = await Promise.all([this.secrets.find(uid), this.users.findByUid(uid)]);
    if (row === null || user === null || !this.isOpen(row) || !this.isOwner(row, claim)) return undefined;
    if (user.status !== userStatus.enabled) return undefined;
    const session = await this.sessions.find(row.sid, user);
    return session && { row, user, session };
  }

  /**
   * `GET /otp-qrcode/{uid}`: shows the URI of an open enrolment as a PNG, a few times (docs/spec/service.md#4.4).
   * @throws DomainError MFA_404001, for every reason
   */
  async qrCode(uid: string, claim: EnrolmentClaim): Promise<Buffer> {
    const enrolment = await this.find(uid, claim);
    if (enrolment === undefined || !(await this.secrets.countFetch(enrolment.row))) {
      throw new DomainError(qrCodeUnavailable);
    }
    // Loads the package at the first enrolment, because most replicas run for hours without one.
    const { toBuffer } = await import('qrcode');
    return toBuffer(this.sealed.openUri(enrolment.row.uri), picture);
  }

  private isOpen(row: TotpSecret): row is OpenEnrolment['row'] {
    const { confirmedAt, sid, expires, attempts } = row;
    if (confirmedAt !== null || sid === null || expires === null) return false;
    return expires > this.clock.now() && attempts < this.secondFactor.maxAttempts;
  }

  /** The session that opened the enrolment owns it. `TOTP_ENROLMENT_BINDING=ip` also accepts its IP address. */
  private isOwner(row: OpenEnrolment['row'], { session, ip }: EnrolmentClaim): boolean {
    if (session?.payload.sid === row.sid && session.payload.sub === row.userId) return true;
    return this.mfa.enrolmentBinding === 'ip' && ip === row.ip;
  }
}
