import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';

export const secretPurpose = 'totp-secret';
export const uriPurpose = 'totp-uri';

/** Encrypts and decrypts the secret and its URI for the tables (docs/spec/attacks.md#w46). */
@Injectable()
export class SealedTotp {
  constructor(private readonly keys: KeyRing) {}

  seal(secret: string, uri: string): { readonly secret: string; readonly uri: string } {
    return { secret: this.keys.seal(secretPurpose, secret), uri: this.keys.seal(uriPurpose, uri) };
  }

  /** Encrypts again with the current key, so that an enrolment from before a key rotation does not need the old key. */
  renewed(sealedSecret: string): string {
    return this.keys.reseal(secretPurpose, sealedSecret);
  }

  /** @throws Error when no key of `DATA_ENCRYPTION_KEY` decrypts it */
  openSecret(sealed: string): string {
    return this.keys.open(secretPurpose, sealed);
  }

  /** @throws Error when no key of `DATA_ENCRYPTION_KEY` decrypts it */
  openUri(sealed: string): string {
    return this.keys.open(uriPurpose, sealed);
  }
}
