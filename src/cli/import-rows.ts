import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { AccountProblem } from '../users/user-accounts';
import { emptyInput, openInput, standardInput } from './input';

export type Fields = Readonly<Record<string, unknown>>;

/** A row as it was read. It has a `problem` if its fields cannot be determined. */
export interface Row {
  readonly fields: Fields;
  readonly problem?: string;
}

export const rowFormats = ['csv', 'jsonl', 'ndjson'] as const;
export type RowFormat = (typeof rowFormats)[number];

/** @throws AccountProblem if the name of the file does not tell its format */
export function formatOf(file: string): RowFormat {
  const format = rowFormats.find((one) => file.endsWith(`.${one}`));
  if (format !== undefined) return format;
  if (file === standardInput)
    throw new AccountProblem('standard input has no name: give --format csv, jsonl or ndjson');
  throw new AccountProblem('the name of the file must end in .csv, .jsonl or .ndjson; otherwise give --format');
}

/**
 * Reads the rows one at a time, so files of any size are possible.
 * @throws AccountProblem if the file is not readable
 */
export async function* readRows(file: string, format: RowFormat): AsyncGenerator<Row> {
  if (format === 'csv') {
    const source = Readable.from(textOf(file));
    const rows = parse({ columns: true, skip_empty_lines: true, trim: true, relax_column_count: true, info: true });
    // `pipe` does not forward errors.
    source.on('error', (error) => rows.destroy(error));
    try {
      for await (const { info, record } of source.pipe(rows) as AsyncIterable<{ info: InfoRecord; record: Fields }>) {
        yield { fields: record, problem: info.error && 'the row has another number of columns than the first line' };
      }
    } catch (error) {
      // The message of the parser quotes the value at which it failed, which may be a password.
      if (error instanceof CsvError)
        throw new AccountProblem(`line ${String(error.lines)} is not well-formed CSV (${error.code})`);
      throw error;
    }
  } else {
    for await (const line of createInterface({ input: Readable.from(textOf(file)) })) {
      if (line.trim() !== '') yield parseLine(line);
    }
  }
}

/**
 * Decodes UTF-8, without a byte order mark. In another encoding, letters of a password would silently become U+FFFD.
 */
async function* textOf(file: string): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Buffer) => {
    try {
      return utf8.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new AccountProblem('the file must be text in UTF-8');
    }
  };
  let empty = true;
  for await (const chunk of openInput(file)) {
    empty = false;
    yield decode(chunk as Buffer);
  }
  if (empty && file === standardInput) throw new AccountProblem(emptyInput);
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
