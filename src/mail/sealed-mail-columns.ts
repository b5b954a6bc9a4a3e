import type { SealedColumn } from '../platform/crypto/resealing';
import { mailPurpose } from './outbox/mail-payload';
import { smtpSecretPurpose } from './smtp-secret';

/** Columns that `keys reseal` encrypts again: SMTP passwords and queued mails. An invitation may be queued for days. */
export const sealedMailColumns: readonly SealedColumn[] = [
  {
    table: 'system_configs',
    key: 'tenant_id',
    column: 'value',
    purpose: smtpSecretPurpose,
    only: "`group` = 'SMTP' AND `key` = 'SECRET'",
  },
  { table: 'mail_outbox', key: 'id', column: 'payload', purpose: mailPurpose },
];
