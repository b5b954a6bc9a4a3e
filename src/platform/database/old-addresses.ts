/**
 * Addresses of clients that a table keeps for long. The owner of the table declares it, and `purge` shortens those that are
 * older than `LOG_IP_DAYS` (docs/spec/extensions.md#log-ip-days). All names become part of the SQL text, so they must be
 * constants of the code. The column is `ip`.
 */
export interface OldAddresses {
  readonly table: string;
  /** The first column of the primary key. */
  readonly key: string;
  /** When the address was seen: a column, or an expression. */
  readonly seen: string;
  /** `marked`: `seen` is an indexed time that never changes, and `purge` keeps how far it has come. */
  readonly by:
    | { readonly kind: 'marked' }
    /** The rows are read by the time of their expiry, which an index has. `purge` has deleted those that have expired. */
    | { readonly kind: 'expiry'; readonly column: string; readonly lifetimeSeconds: number }
    /** A table with a few rows for each user: all of them are read by the key. */
    | { readonly kind: 'key' };
}
