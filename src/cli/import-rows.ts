import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { AccountProblem } from '../users/user-accounts';

export type Fields = Readonly<Record<string, unknown>>;

/** A row as it was read. It has a `problem` if its fields cannot be determined. */
export interface Row {
  readonly fields: Fields;
  readonly problem?: string;
}

/**
 * Reads the rows one at a time, so files of any size are possible.
 * @throws AccountProblem if the file is not readable
 */
export async function* readRows(file: string): AsyncGenerator<Row> {
  if (file.endsWith('.csv')) {
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
  } else if (file.endsWith('.jsonl') || file.endsWith('.ndjson')) {
    for await (const line of createInterface({ input: Readable.from(textOf(file)) })) {
      if (line.trim() !== '') yield parseLine(line);
    }
  } else {
    throw new AccountProblem('the name of the file must end in .csv, .jsonl or .ndjson');
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
  for await (const chunk of createReadStream(file)) yield decode(chunk as Buffer);
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
