import type { SealedColumn } from '../platform/crypto/resealing';
import { activeSecretColumn } from '../users/second-factor';
import { secretPurpose, uriPurpose } from './totp/sealed-totp';

/**
 * Columns that `keys reseal` encrypts again. TOTP secrets are kept for years, so an old key would otherwise stay in
 * use.
 */
export const sealedTotpColumns: readonly SealedColumn[] = [
  { ...activeSecretColumn, purpose: secretPurpose },
  { table: 'totp_secrets', key: 'user_id', column: 'secret', purpose: secretPurpose },
  { table: 'totp_secrets', key: 'user_id', column: 'uri', purpose: uriPurpose },
];
