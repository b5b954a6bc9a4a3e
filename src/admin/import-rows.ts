import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { AccountProblem } from '../users/user-accounts';

export type Fields = Readonly<Record<string, unknown>>;

/** A row as it was read. It has a `problem` if its fields cannot be determined. */
export interface Row {
  readonly fields: Fields;
  /** Of CSV: the line of the file on which the row ends. */
  readonly line?: number;
  readonly problem?: string;
}

export const rowFormats = ['csv', 'jsonl', 'ndjson'] as const;
export type RowFormat = (typeof rowFormats)[number];

/** Bounds of CSV that comes from a client. */
export interface CsvBounds {
  /** The largest row, in characters. A quotation mark that is never closed makes one row of the rest of the file. */
  readonly largestRow: number;
  /** Judges the names of the columns before the first row. @throws AccountProblem */
  readonly assertColumns: (names: readonly string[]) => void;
}

/**
 * Reads the rows one at a time, so files of any size are possible.
 * @throws AccountProblem if the file is not readable
 */
export function readRows(chunks: AsyncIterable<Uint8Array>, format: RowFormat): AsyncGenerator<Row> {
  return format === 'csv' ? readCsv(chunks) : readLines(chunks);
}

/** @throws AccountProblem if the file is not readable */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>, bounds?: CsvBounds): AsyncGenerator<Row> {
  const text = textOf(chunks);
  const begin = await beginOf(text);
  const [head = ''] = begin.split(/[\r\n]/, 1);
  const source = Readable.from(continued(begin, text));
  const rows = parse({
    ...{ skip_empty_lines: true, trim: true, relax_column_count: true, info: true },
    // Excel separates by semicolons where the comma is the decimal sign. No column has either of them in its name.
    delimiter: head.includes(';') && !head.includes(',') ? ';' : ',',
    columns: (names: string[]) => {
      bounds?.assertColumns(names);
      return names;
    },
    ...(bounds !== undefined && { max_record_size: bounds.largestRow }),
  });
  // `pipe` does not forward errors.
  source.on('error', (error) => rows.destroy(error));
  try {
    for await (const { info, record } of source.pipe(rows) as AsyncIterable<{ info: InfoRecord; record: Fields }>) {
      const problem = info.error && 'the row has another number of columns than the first line';
      yield { fields: record, line: info.lines, problem };
    }
  } catch (error) {
    // The message of the parser quotes the value at which it failed, which may be a password.
    if (error instanceof CsvError)
      throw new AccountProblem(`line ${String(error.lines)} is not well-formed CSV (${error.code})`);
    throw error;
  }
}

/** The first line, and what was read with it. */
async function beginOf(text: AsyncGenerator<string>): Promise<string> {
  let read = '';
  while (!/[\r\n]/.test(read) && read.length <= longestHead) {
    const next = await text.next();
    if (next.done === true) break;
    read += next.value;
  }
  return read;
}

const longestHead = 65_536;

async function* continued(begin: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield begin;
  yield* rest;
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  for await (const line of createInterface({ input: Readable.from(textOf(chunks)) })) {
    if (line.trim() !== '') yield parseLine(line);
  }
}

/**
 * Decodes UTF-8, without a byte order mark. In another encoding, letters of a password would silently become U+FFFD.
 */
async function* textOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return utf8.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new AccountProblem('the file must be text in UTF-8');
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  yield decode();
}

function parseLine(line: string): Row {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { fields: value as Fields };
  } catch {
    // Falls through to the problem below.
  }
  return { fields: {}, problem: 'the line is not a JSON object' };
}
