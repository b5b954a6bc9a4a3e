import { DomainError } from '../shared/errors/domain-error';
import { isStoreFailure, storeCode } from '../platform/database/store-failure';

/** One line for standard error: what went wrong, and never a value that may be a secret. */
export function problemOf(error: unknown): string {
  if (error instanceof DomainError) return `${error.entry.code}: ${error.entry.msg.en}`;
  if (isStoreFailure(error)) return `the database cannot be reached (${storeCode(error)})`;
  if (storeCode(error).startsWith('ER_') || storeCode(error).startsWith('SQLITE_'))
    return `the database refused: ${storeCode(error)}`;
  return error instanceof Error ? error.message.replace(/\s*\n\s*/g, ' ') : 'unknown error';
}
