import type { SealedColumn } from '../platform/crypto/resealing';
import { mailPurpose } from './outbox/mail-payload';
import { smtpSecretPurpose } from './smtp-secret';

/** The password of each tenant's mail server, and mails that wait: an invitation may do so for days. */
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
