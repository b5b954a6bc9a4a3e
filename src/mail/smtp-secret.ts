import { isSealed, type KeyRing } from '../platform/crypto/key-ring';

export const smtpSecretPurpose = 'smtp-secret';

/** The form in which `config set SMTP SECRET` stores the password (AES-256-GCM). */
export function sealSmtpSecret(keys: KeyRing, plain: string): string {
  return keys.seal(smtpSecretPurpose, plain);
}

/**
 * Returns the password. A value that was written by plain SQL is not encrypted and is returned unchanged.
 * @throws Error when the value is encrypted and no key of `DATA_ENCRYPTION_KEY` decrypts it
 */
export function openSmtpSecret(keys: KeyRing, stored: string): string {
  return isSealed(stored) ? keys.open(smtpSecretPurpose, stored) : stored;
}
