import { isSealed, type KeyRing } from '../platform/crypto/key-ring';

export const smtpSecretPurpose = 'smtp-secret';

/** What `config set SMTP SECRET` stores in place of the password (AES-256-GCM). */
export function sealSmtpSecret(keys: KeyRing, plain: string): string {
  return keys.seal(smtpSecretPurpose, plain);
}

/**
 * The password, from the sealed form or from a plain one that was written by plain SQL.
 * @throws Error when it is sealed and no `DATA_ENCRYPTION_KEY` opens it.
 */
export function openSmtpSecret(keys: KeyRing, stored: string): string {
  return isSealed(stored) ? keys.open(smtpSecretPurpose, stored) : stored;
}
