import { measured } from '../../../migrations/measured';
import type { MeasuredChange, Measurement } from '../../../migrations/measurement';
import type { Change, Kind } from '../../platform/database/rehearsal/schema-changes';
import type { TableSize } from './live-database';
import type { UpgradeFinding } from './verdict';

export interface PendingChange {
  readonly table: string;
  readonly kind: Kind;
  /** Whether writes to the table wait until it ends. */
  readonly blocks: boolean;
  /** Estimated by the server, and 0 for a table that does not exist yet. */
  readonly rows: number;
  /** Estimated. Null: nobody has measured it. */
  readonly seconds: number | null;
}

export interface PendingMigration {
  readonly name: string;
  readonly kind: Kind;
  /** `tried`: this server has said so on empty copies. `recorded`: MariaDB said so when this version was built. */
  readonly judged: 'tried' | 'recorded' | 'no';
  readonly seconds: number | null;
  readonly changes: readonly PendingChange[];
}

type Judged = Omit<PendingChange, 'rows' | 'seconds'>;

const weight: readonly Kind[] = ['instant', 'exclusive', 'online', 'rows', 'rebuild'];

/** A million users of 1.0.0, on MariaDB (docs/operations/upgrade.md#figures). The record has no rebuild. */
const rebuiltRowsPerSecond = 10_000;

/** A login may wait as long (ADR 0046). */
const longestWaitSeconds = 2;

/**
 * Joins what the server has said about each pending migration with the figures of the record.
 * @param tried undefined when the account may not create a schema
 */
export function judgeMigrations(
  pending: readonly string[],
  tried: readonly Change[] | undefined,
  sizes: ReadonlyMap<string, TableSize>,
  record: Measurement = measured,
): PendingMigration[] {
  return pending.map((name) => {
    const known = record.migrations[name];
    const ofRecord = known?.changes.map((one) => ({ ...one, blocks: false })) ?? [];
    const own = distinct(tried?.filter((one) => one.migration === name && one.kind !== 'rows') ?? []);
    // Empty copies have no rows to write.
    const said: readonly Judged[] =
      tried === undefined ? ofRecord : [...own, ...ofRecord.filter(({ kind }) => kind === 'rows')];
    const changes = said.map(({ table, kind, blocks }) => {
      const rows = sizes.get(table)?.rows ?? 0;
      const figure = known?.changes.find((one) => one.table === table && one.kind === kind);
      return { table, kind, blocks, rows, seconds: secondsOf(kind, table, rows, figure, known !== undefined) };
    });

    function secondsOf(kind: Kind, table: string, rows: number, figure: MeasuredChange | undefined, isKnown: boolean) {
      if (kind === 'instant') return 0;
      if (kind === 'exclusive') return null;
      if (figure === undefined) return kind === 'rebuild' ? rows / rebuiltRowsPerSecond : isKnown ? 0 : null;
      // A new table is filled from the users.
      const from = record.rows[table] === undefined ? 'users' : table;
      return (figure.seconds * (sizes.get(from)?.rows ?? 0)) / record.rows[from]!;
    }

    const kind = changes.reduce<Kind>((one, { kind: other }) => heavier(one, other), 'instant');
    const seconds = changes.some((one) => one.seconds === null)
      ? null
      : changes.reduce((sum, one) => sum + (one.seconds ?? 0), 0);
    const judged = tried !== undefined ? 'tried' : known !== undefined ? 'recorded' : 'no';
    return { name, kind, judged, seconds, changes };
  });
}

export function findingOf({ name, kind, judged, changes }: PendingMigration): UpgradeFinding {
  const finding = (status: UpgradeFinding['status'], text: string): UpgradeFinding => ({
    check: 'migrations',
    status,
    text: `${name}: ${text}`,
  });
  if (judged === 'no') {
    return finding('unknown', 'the record does not have it: run this with an account that may create a schema');
  }
  const heavy = changes.filter((one) => one.kind !== 'instant');
  const text = heavy.map(described).join(', ') || 'instant';
  const held = changes.some(
    (one) => one.blocks && one.kind === 'rebuild' && (one.seconds ?? Infinity) > longestWaitSeconds,
  );
  if (held) return finding('no', `${text}: logins wait meanwhile`);
  return finding(kind === 'rebuild' ? 'warn' : 'ok', text);
}

function described({ table, kind, rows, seconds }: PendingChange): string {
  const size = kind === 'rows' ? 'filled in batches' : `${rows.toLocaleString('en-US')} rows`;
  const time = seconds === null ? 'not measured' : `some ${wholeSeconds(seconds)} s`;
  return `${kind} ${table} (${size}, ${kind === 'exclusive' ? 'nothing else writes meanwhile' : time})`;
}

export const wholeSeconds = (seconds: number): number => Math.ceil(seconds);

const heavier = (one: Kind, other: Kind): Kind => (weight.indexOf(other) > weight.indexOf(one) ? other : one);

/** The figures are per table and kind, so several statements of one kind are one change. */
function distinct(changes: readonly Change[]): Judged[] {
  const found = new Map<string, Judged>();
  for (const { table, kind, blocks } of changes) found.set(`${table} ${kind} ${blocks}`, { table, kind, blocks });
  return [...found.values()];
}
