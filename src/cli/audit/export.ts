import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { LogRanges } from '../../audit/log-ranges';
import type { LogRow } from '../../audit/log-search';
import type { LogTable } from '../../audit/log-tables';
import { CliProblem } from '../cli-context';
import { Chain, type Former, formatName, hashOf, keyIdOf, type Manifest, noLine, type Place } from './chain';
import { linesOf, membersOf } from './lines';

/**
 * Ids are given before the commit, so a row with a smaller id may appear after a row with a greater one. A transaction is much
 * shorter than this, and clocks differ by less, so the rows before it are all there. A row that is further than this in the future
 * has the time of a wrong clock.
 */
export const settledSeconds = 600;

export interface ExportOptions {
  readonly log: LogTable;
  readonly former: Former | undefined;
  readonly from: Date | undefined;
  /** The first moment that is not exported. It is at least `settledSeconds` ago. */
  readonly to: Date;
  readonly madeAt: Date;
  readonly version: string;
  /** Undefined: the export is not signed. */
  readonly key: KeyObject | undefined;
}

/** The text of an export, a page of rows at a time (docs/spec/extensions.md#audit-export). */
export async function* exportedText(ranges: LogRanges, options: ExportOptions): AsyncGenerator<string> {
  for await (const lines of linesOfExport(ranges, options)) yield `${lines.join('\n')}\n`;
}

async function* linesOfExport(ranges: LogRanges, options: ExportOptions): AsyncGenerator<readonly string[]> {
  const { log, former, from, to, key } = options;
  const chain = new Chain(former?.head ?? noLine);
  const filters = { from: from?.toISOString() ?? null, to: to.toISOString() };
  const horizon = new Date(options.madeAt.getTime() + settledSeconds * 1000);
  const after = former?.through_id ?? (await beforeFirst(ranges, log, from, horizon));
  const oldest = await ranges.oldest(log);
  const header = {
    ...{ type: 'header', format: formatName, log: log.table, version: options.version },
    ...{ made_at: options.madeAt.toISOString(), filters, after_id: after },
    former: former === undefined ? null : { ...former, rows_now: await rowsNow(ranges, log, former) },
    oldest: oldest === undefined ? null : placeOf(oldest),
  };
  yield [chain.line(header)];
  let count = 0;
  let first: Place | null = null;
  let last: Place | null = null;
  for await (const rows of ranges.rows(log, after, await ranges.endOf(log, to, horizon))) {
    yield rows.map((row) => chain.line(viewOf(log, row)));
    count += rows.length;
    first ??= placeOf(rows[0]!);
    last = placeOf(rows.at(-1)!);
  }
  const manifest: Manifest = {
    ...{ type: 'manifest', log: log.table, filters, count, first, last, through_id: last?.id ?? after },
    ...{ head: chain.head, key_id: key === undefined ? null : keyIdOf(key) },
  };
  const line = chain.line(manifest);
  yield key === undefined ? [line] : [line, chain.signature(line, key)];
}

/** The end of the export before this one: its last line or its last two lines are enough. @throws CliProblem */
export async function formerOf(
  source: AsyncIterable<Buffer>,
  log: LogTable,
  key: KeyObject | undefined,
): Promise<Former> {
  let ends: Buffer[] = [];
  for await (const line of linesOf(source)) ends = [...ends.slice(-1), Buffer.from(line)];
  const lastLine = ends.at(-1);
  const signature = membersOf(lastLine);
  const line = signature?.type === 'signature' ? ends[0] : lastLine;
  const manifest = membersOf(line) as unknown as Manifest | undefined;
  if (line === undefined || lastLine === undefined || manifest?.type !== 'manifest' || manifest.log !== log.table) {
    throw new CliProblem(`--after must be a whole export of ${log.table}, or its last two lines`);
  }
  const own = key !== undefined && manifest.key_id === keyIdOf(key);
  const proof = Buffer.from(String(signature?.signature), 'base64');
  if (own && !verify(null, line, createPublicKey(key), proof)) {
    throw new CliProblem('the manifest of --after does not fit its signature: it was changed');
  }
  const { count, first, through_id } = manifest;
  return { head: hashOf(lastLine), count, first_id: first?.id ?? null, through_id };
}

async function beforeFirst(ranges: LogRanges, log: LogTable, from: Date | undefined, horizon: Date): Promise<number> {
  if (from === undefined) return 0;
  const first = await ranges.firstWithin(log, from, horizon);
  if (first === undefined) throw new CliProblem(`${log.table} has no row since --from`);
  return first - 1;
}

/** How many rows of the former export the table still has. Fewer were deleted since, more were added behind its back. */
const rowsNow = (ranges: LogRanges, log: LogTable, { first_id, through_id }: Former): Promise<number> | number =>
  first_id === null ? 0 : ranges.count(log, first_id, through_id);

const placeOf = ({ id, createdAt }: LogRow): Place => ({ id, created_at: createdAt.toISOString() });

function viewOf(log: LogTable, row: LogRow): object {
  const columns = log.columns.map((name) => [name, name === 'detail' ? jsonOf(row[name]) : row[name]]);
  return { type: 'row', ...placeOf(row), ...(Object.fromEntries(columns) as object) };
}

function jsonOf(text: unknown): unknown {
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    return text;
  }
}
