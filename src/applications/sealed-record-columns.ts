import type { KeyRing } from '../platform/crypto/key-ring';
import type { SealedColumn } from '../platform/crypto/resealing';
import { hashOfRecord, recordPurpose } from './persistence/oidc-record.repository';

interface Ids {
  readonly kind?: string;
  readonly jti?: string;
  readonly grantId?: string;
  readonly uid?: string;
  readonly userCode?: string;
}

/** The records of the OpenID provider, which live for up to a year. Their ids are in the payload. */
export const sealedRecordColumns: readonly SealedColumn[] = [
  { table: 'oidc_records', key: 'id_hash', column: 'payload', purpose: recordPurpose, hashes: hashesOf },
];

function hashesOf(keys: KeyRing, plain: string): Readonly<Record<string, string | null>> {
  const { kind = '', jti = '', grantId, uid, userCode } = JSON.parse(plain) as Ids;
  return {
    id_hash: hashOfRecord(keys, kind, jti),
    grant_hash: grantId === undefined ? null : hashOfRecord(keys, 'Grant', grantId),
    uid_hash: kind === 'Session' && uid !== undefined ? hashOfRecord(keys, 'uid', uid) : null,
    user_code_hash: userCode === undefined ? null : hashOfRecord(keys, 'user-code', userCode),
  };
}
