import type { KeyRing } from '../platform/crypto/key-ring';

const purpose = 'smtp-secret';
/** The shape of a sealed value: at least a nonce and a tag. A password that somebody typed does not look like this. */
const sealedForm = /^v1\.[\w-]{38,}$/;

/** What `config set SMTP SECRET` stores in place of the password (AES-256-GCM). */
export function sealSmtpSecret(keys: KeyRing, plain: string): string {
  return keys.seal(purpose, plain);
}

/**
 * The password, from the sealed form or from a plain one that was written by plain SQL.
 * @throws Error when it is sealed and no `DATA_ENCRYPTION_KEY` opens it.
 */
export function openSmtpSecret(keys: KeyRing, stored: string): string {
  return sealedForm.test(stored) ? keys.open(purpose, stored) : stored;
}
