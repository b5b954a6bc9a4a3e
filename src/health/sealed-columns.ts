import { sealedRecordColumns } from '../applications/sealed-record-columns';
import { sealedReceiverColumns } from '../events/event-receivers';
import { sealedProviderColumns } from '../identity-providers/provider-secrets';
import { sealedMailColumns } from '../mail/sealed-mail-columns';
import { sealedTotpColumns } from '../mfa/sealed-totp-columns';
import type { SealedColumn } from '../platform/crypto/resealing';

/** All columns with sealed values that outlive a roll-out. Others (codes, challenges, passes) expire within minutes. */
export const sealedColumns: readonly SealedColumn[] = [
  ...sealedTotpColumns,
  ...sealedMailColumns,
  ...sealedRecordColumns,
  ...sealedProviderColumns,
  ...sealedReceiverColumns,
];
