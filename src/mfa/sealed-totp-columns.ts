import type { SealedColumn } from '../platform/crypto/resealing';
import { secretPurpose, uriPurpose } from './totp/sealed-totp';

/**
 * Columns that `keys reseal` encrypts again. TOTP secrets are kept for years, so an old key would otherwise stay in
 * use.
 */
export const sealedTotpColumns: readonly SealedColumn[] = [
  { table: 'users', key: 'uid', column: 'topt_secret', purpose: secretPurpose },
  { table: 'totp_secrets', key: 'user_id', column: 'secret', purpose: secretPurpose },
  { table: 'totp_secrets', key: 'user_id', column: 'uri', purpose: uriPurpose },
];
