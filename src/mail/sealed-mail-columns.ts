import type { SealedColumn } from '../platform/crypto/resealing';
import { sealedSetting } from '../platform/settings/system-config.repository';
import { mailPurpose } from './outbox/mail-payload';
import { smtpSecretPurpose } from './smtp-secret';

/** Columns that `keys reseal` encrypts again: SMTP passwords and queued mails. An invitation may be queued for days. */
export const sealedMailColumns: readonly SealedColumn[] = [
  sealedSetting('SMTP', 'SECRET', smtpSecretPurpose),
  { table: 'mail_outbox', key: 'id', column: 'payload', purpose: mailPurpose },
];
