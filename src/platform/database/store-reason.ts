import type { PeerCertificate } from 'node:tls';
import { storeCode } from './store-failure';

const privileges = new Set([
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_SPECIFIC_ACCESS_DENIED_ERROR',
]);

const fullDisk = new Set(['ER_DISK_FULL', 'ER_RECORD_FILE_FULL', 'SQLITE_FULL']);

const readOnly = new Set([
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_OPEN_AS_READONLY',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'SQLITE_READONLY',
]);

/** The server answers, and does not let the account in. Too many connections are not in this list. */
const refusals = new Set([
  'ER_ACCESS_DENIED_ERROR',
  'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_ACCOUNT_HAS_BEEN_LOCKED',
  'ER_MUST_CHANGE_PASSWORD_LOGIN',
  'ER_HOST_NOT_PRIVILEGED',
  'ER_HOST_IS_BLOCKED',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'HANDSHAKE_SSL_ERROR',
]);

export const isRefusedLogin = (error: unknown): boolean => refusals.has(storeCode(error));
/** Not a temporary table, which a large search of one person can fill. */
export function isFullDisk(error: unknown): boolean {
  return fullDisk.has(storeCode(error)) && !(error as Error).message.includes('#sql');
}
export const lacksPrivilege = (error: unknown): boolean => privileges.has(storeCode(error));
export const isReadOnly = (error: unknown): boolean => readOnly.has(storeCode(error));

/**
 * Says in one line what is wrong with the database and what to do: "the database …". The messages of a driver quote user
 * names, hosts and values, so only codes and names of privileges and tables are taken from them.
 */
export function storeReason(error: unknown): string {
  const code = storeCode(error) || (error as Error).name;
  const tls = tlsFailure(error);
  if (tls !== undefined) return `cannot be reached (${tls})`;
  if (lacksPrivilege(error)) {
    return `does not grant ${deniedTo(error) ?? 'a privilege'} to the account of DATABASE_URL (${code})`;
  }
  if (isReadOnly(error)) return `is read-only (${code})`;
  if (fullDisk.has(code)) return `has no space left on its disk (${code})`;
  return `${sentences[code] ?? 'cannot be reached'} (${code})`;
}

const refused = 'refuses the account of DATABASE_URL';
const sentences: Readonly<Record<string, string>> = {
  ER_ACCESS_DENIED_ERROR: refused,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: refused,
  ER_BAD_DB_ERROR: 'has no schema of the name in DATABASE_URL',
  ER_NO_SUCH_TABLE: 'lacks a table',
  ER_LOCK_WAIT_TIMEOUT: 'was locked by another session for too long',
};

/** `INSERT command denied to user 'name'@'host' for table `schema`.`users``: returns "INSERT on users". */
function deniedTo(error: unknown): string | undefined {
  const { driverError, cause } = error as { driverError?: unknown; cause?: unknown };
  const found = /([A-Z][A-Z, ]*) command denied to user .* for (?:.*[`'.])?(\w+)[`']/.exec((error as Error).message);
  if (found !== null) return `${found[1]} on ${found[2]}`;
  const inner = driverError ?? cause;
  return inner === undefined || inner === error ? undefined : deniedTo(inner);
}

/**
 * Why TLS with the database failed, and which part of `DATABASE_URL` to look at. mysql2 replaces the code of the cause
 * by one of its own, so the text of the cause decides. The text has names of the certificate, and no secret.
 * @returns undefined if the error is another one
 */
function tlsFailure(error: unknown): string | undefined {
  const code = storeCode(error);
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return 'the server offers no TLS: see ssl-mode in DATABASE_URL';
  if (code !== 'HANDSHAKE_SSL_ERROR') return undefined;
  const { message, reason, cert } = error as Error & {
    reason?: string;
    cert?: Pick<PeerCertificate, 'subjectaltname'>;
  };
  if (cert !== undefined)
    return `the certificate is for ${cert.subjectaltname ?? 'no name'}, and not for the host of DATABASE_URL`;
  if (/self.signed|issuer|verify the first/.test(message)) {
    return `${message}: set ssl-ca in DATABASE_URL to the authority of the server`;
  }
  return oneLine(reason ?? message);
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 300);
