import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';

const secretPurpose = 'totp-secret';
const uriPurpose = 'totp-uri';

/** The secret and its URI as they lie in the tables (W46). `users.topt_secret` takes the sealed secret over as it is. */
@Injectable()
export class SealedTotp {
  constructor(private readonly keys: KeyRing) {}

  seal(secret: string, uri: string): { readonly secret: string; readonly uri: string } {
    return { secret: this.keys.seal(secretPurpose, secret), uri: this.keys.seal(uriPurpose, uri) };
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
