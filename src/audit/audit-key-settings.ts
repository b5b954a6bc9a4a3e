import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { SettingsReader } from '../platform/config/settings-reader';

/** The key that signs exports of the logs (docs/spec/extensions.md#audit-export). */
export abstract class AuditKeySettings {
  /** An Ed25519 key (`AUDIT_PRIVATE_KEY`). Undefined: exports cannot be signed. */
  abstract readonly privateKey: KeyObject | undefined;
}

export function readAuditKeySettings(env: SettingsReader): AuditKeySettings {
  const pem = env.optional('AUDIT_PRIVATE_KEY');
  if (pem === undefined) return { privateKey: undefined };
  try {
    const privateKey = createPrivateKey(pem.replaceAll('\\n', '\n'));
    if (privateKey.asymmetricKeyType === 'ed25519') return { privateKey };
  } catch {
    // The message of this error could quote the key.
  }
  env.problem('AUDIT_PRIVATE_KEY', 'is not a PEM key of the type Ed25519: make one with audit keygen');
  return { privateKey: undefined };
}
