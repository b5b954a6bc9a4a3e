import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';

export const secretPurpose = 'totp-secret';
export const uriPurpose = 'totp-uri';

/** The secret and its URI as they lie in the tables (W46). `users.topt_secret` takes the sealed secret over, under its nonce. */
@Injectable()
export class SealedTotp {
  constructor(private readonly keys: KeyRing) {}

  seal(secret: string, uri: string): { readonly secret: string; readonly uri: string } {
    return { secret: this.keys.seal(secretPurpose, secret), uri: this.keys.seal(uriPurpose, uri) };
  }

  /** The secret as it is put in force: an enrolment that was begun before keys rotated must not carry the old one on. */
  renewed(sealedSecret: string): string {
    return this.keys.reseal(secretPurpose, sealedSecret);
  }

  /** @throws Error when no `DATA_ENCRYPTION_KEY` opens it. */
  openSecret(sealed: string): string {
    return this.keys.open(secretPurpose, sealed);
  }

  /** @throws Error when no `DATA_ENCRYPTION_KEY` opens it. */
  openUri(sealed: string): string {
    return this.keys.open(uriPurpose, sealed);
  }
}
