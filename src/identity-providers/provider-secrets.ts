import { Injectable } from '@nestjs/common';
import { KeyRing } from '../platform/crypto/key-ring';
import type { SealedColumn } from '../platform/crypto/resealing';
import type { IdentityProvider } from './identity-provider.entity';

const secretPurpose = 'identity-provider-secret';

/** Columns that `keys reseal` encrypts again. A secret is kept for a year or two. */
export const sealedProviderColumns: readonly SealedColumn[] = [
  { table: 'identity_providers', key: 'id', column: 'client_secret', purpose: secretPurpose },
];

/** Encrypts and decrypts the secrets with which the service proves itself to the providers. */
@Injectable()
export class ProviderSecrets {
  constructor(private readonly keys: KeyRing) {}

  seal(secret: string | null): string | null {
    return secret === null ? null : this.keys.seal(secretPurpose, secret);
  }

  /** @throws Error when no key of `DATA_ENCRYPTION_KEY` decrypts it */
  open({ clientSecret }: Pick<IdentityProvider, 'clientSecret'>): string | null {
    return clientSecret === null ? null : this.keys.open(secretPurpose, clientSecret);
  }
}
