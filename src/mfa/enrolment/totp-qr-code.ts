import { Injectable } from '@nestjs/common';
import { DomainError } from '../../shared/errors/domain-error';
import { qrCodeUnavailable } from '../../shared/errors/error-catalogue';
import { TotpSecrets } from '../persistence/totp-secret.repository';
import { SealedTotp } from '../totp/sealed-totp';
import { type EnrolmentClaim, OpenEnrolments } from './open-enrolments';

/** Greyscale and no filters: encoding blocks the event loop, and these options cut its time to a third. */
const picture = {
  type: 'png',
  errorCorrectionLevel: 'M',
  scale: 4,
  rendererOpts: { deflateLevel: 6, colorType: 0, filterType: 0 },
} as const;

/** `GET /otp-qrcode/{uid}`: shows the URI of an open enrolment as a PNG, a few times (docs/spec/service.md#4.4). */
@Injectable()
export class TotpQrCode {
  constructor(
    private readonly enrolments: OpenEnrolments,
    private readonly secrets: TotpSecrets,
    private readonly sealed: SealedTotp,
  ) {}

  /** @throws DomainError MFA_404001, for every reason */
  async png(uid: string, claim: EnrolmentClaim): Promise<Buffer> {
    const enrolment = await this.enrolments.find(uid, claim);
    if (enrolment === undefined || !(await this.secrets.countFetch(enrolment.row))) {
      throw new DomainError(qrCodeUnavailable);
    }
    // Loads the package at the first enrolment, because most replicas run for hours without one.
    const { toBuffer } = await import('qrcode');
    return toBuffer(this.sealed.openUri(enrolment.row.uri), picture);
  }
}
