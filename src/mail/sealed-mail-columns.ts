import type { SealedColumn } from '../platform/crypto/resealing';
import { sealedSetting } from '../platform/settings/system-config.repository';
import { laterKinds, laterMailPurpose, mailPurpose } from './outbox/mail-payload';
import { smtpSecretPurpose } from './smtp-secret';

const payloads = { table: 'mail_outbox', key: 'id', column: 'payload' };
const later = laterKinds.map((kind) => `'${kind}'`).join(', ');

/** Columns that `keys reseal` encrypts again: SMTP passwords and queued mails. An invitation may be queued for days. */
export const sealedMailColumns: readonly SealedColumn[] = [
  sealedSetting('SMTP', 'SECRET', smtpSecretPurpose),
  { ...payloads, purpose: mailPurpose, only: `kind NOT IN (${later})` },
  { ...payloads, purpose: laterMailPurpose, only: `kind IN (${later})` },
];
