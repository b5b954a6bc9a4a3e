import type { CatalogueEntry } from './error-catalogue';

/** What a client needs beside the code: seconds to wait, the fields that do not fit. Never anything secret. */
export interface ErrorData {
  readonly retry_after?: number;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
}

/** The one error that leaves a use case: an entry of the catalogue, rendered by the error envelope filter (§7). */
export class DomainError extends Error {
  override readonly name: string = 'DomainError';

  constructor(
    readonly entry: CatalogueEntry,
    readonly data?: ErrorData,
    /** For the log only; the client never sees it. */
    options?: { cause?: unknown },
  ) {
    super(entry.code, options);
  }
}

/** Whole seconds until `until`, at least 1: what `data.retry_after` carries. */
export function secondsUntil(until: Date, now: Date): number {
  return Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
}
