import type { SealedColumn } from '../platform/crypto/resealing';
import { secretPurpose, uriPurpose } from './totp/sealed-totp';

/** Authenticators last for years, and so do the keys that they are sealed with, unless `keys reseal` renews them. */
export const sealedTotpColumns: readonly SealedColumn[] = [
  { table: 'users', key: 'uid', column: 'topt_secret', purpose: secretPurpose },
  { table: 'totp_secrets', key: 'user_id', column: 'secret', purpose: secretPurpose },
  { table: 'totp_secrets', key: 'user_id', column: 'uri', purpose: uriPurpose },
];
