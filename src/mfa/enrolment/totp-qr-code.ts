import { Injectable } from '@nestjs/common';
import { DomainError } from '../../shared/errors/domain-error';
import { qrCodeUnavailable } from '../../shared/errors/error-catalogue';
import { TotpSecrets } from '../persistence/totp-secrets';
import { SealedTotp } from '../totp/sealed-totp';
import { type EnrolmentClaim, OpenEnrolments } from './open-enrolments';

/** Grey and unfiltered: encoded in a third of the time, which is time of the event loop. */
const picture = {
  type: 'png',
  errorCorrectionLevel: 'M',
  scale: 4,
  rendererOpts: { deflateLevel: 6, colorType: 0, filterType: 0 },
} as const;

/** `GET /otp-qrcode/{uid}` (§4.4): the URI of an enrolment as a PNG, for the one who has it open, and only a few times. */
@Injectable()
export class TotpQrCode {
  constructor(
    private readonly enrolments: OpenEnrolments,
    private readonly secrets: TotpSecrets,
    private readonly sealed: SealedTotp,
  ) {}

  /** @throws DomainError MFA_404001, the same for every reason. */
  async png(uid: string, claim: EnrolmentClaim): Promise<Buffer> {
    const enrolment = await this.enrolments.find(uid, claim);
    if (enrolment === undefined || !(await this.secrets.countFetch(enrolment.row))) {
      throw new DomainError(qrCodeUnavailable);
    }
    // Loaded with the first enrolment: most starts, and most replicas for hours, need no picture.
    const { toBuffer } = await import('qrcode');
    return toBuffer(this.sealed.openUri(enrolment.row.uri), picture);
  }
}
