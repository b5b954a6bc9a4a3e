/** What a migration has taken on filled tables. `npm run check:migrations` measures it and writes `measured.ts`. */
export interface Measurement {
  readonly at: string;
  /** The server and the machine. */
  readonly source: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly migrations: Readonly<Record<string, MeasuredMigration>>;
}

export interface MeasuredMigration {
  readonly seconds: number;
  /** The longest statement of a login that ran beside it. */
  readonly longestLoginSeconds: number;
  /** Without changes that need no time, such as a new table or an instant column. */
  readonly changes: readonly MeasuredChange[];
}

export interface MeasuredChange {
  readonly table: string;
  readonly kind: 'online' | 'rebuild' | 'rows';
  readonly seconds: number;
  readonly statements: number;
}
