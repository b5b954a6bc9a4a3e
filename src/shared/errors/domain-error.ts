import type { CatalogueEntry } from './error-catalogue';

/**
 * The data that a client needs in addition to the code: seconds to wait, the wrong fields, or the broken rules of the
 * password policy. Never a secret.
 */
export interface ErrorData {
  readonly retry_after?: number;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  readonly rules?: readonly string[];
  /** Where the page leads the user: to the application that gets the refusal. */
  readonly redirect_to?: string;
  /** The session lacks its second factor, rather than a fresh login. */
  readonly second_factor?: boolean;
}

/** The only error that use cases throw: an entry of the catalogue. ErrorEnvelopeFilter renders it. */
export class DomainError extends Error {
  override readonly name: string = 'DomainError';

  constructor(
    readonly entry: CatalogueEntry,
    readonly data?: ErrorData,
    /** For the log only. The client never sees the cause. */
    options?: { cause?: unknown },
  ) {
    super(entry.code, options);
  }
}

/** Whole seconds until a time, at least 1, for `data.retry_after`. */
export function secondsUntil(until: Date, now: Date): number {
  return Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
}
