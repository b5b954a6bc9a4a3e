import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { AccountProblem } from '../users/user-accounts';

export type Fields = Readonly<Record<string, unknown>>;

/** A row as it was read; `problem` where it cannot be told what its fields are. */
export interface Row {
  readonly fields: Fields;
  readonly problem?: string;
}

/** The rows of a file, one at a time: its size does not matter. @throws AccountProblem when it cannot be read as a whole */
export async function* readRows(file: string): AsyncGenerator<Row> {
  if (file.endsWith('.csv')) {
    const source = Readable.from(textOf(file));
    const rows = parse({ columns: true, skip_empty_lines: true, trim: true, relax_column_count: true, info: true });
    // A pipe does not pass errors on.
    source.on('error', (error) => rows.destroy(error));
    try {
      for await (const { info, record } of source.pipe(rows) as AsyncIterable<{ info: InfoRecord; record: Fields }>) {
        yield { fields: record, problem: info.error && 'the number of columns is not that of the first line' };
      }
    } catch (error) {
      // Its message quotes the value that it stumbled over, which may be a password.
      if (error instanceof CsvError)
        throw new AccountProblem(`line ${String(error.lines)} is not well-formed CSV (${error.code})`);
      throw error;
    }
  } else if (file.endsWith('.jsonl') || file.endsWith('.ndjson')) {
    for await (const line of createInterface({ input: Readable.from(textOf(file)) })) {
      if (line.trim() !== '') yield parseLine(line);
    }
  } else {
    throw new AccountProblem('the file must end in .csv, .jsonl or .ndjson');
  }
}

/** Without a byte order mark. In another encoding letters of a password would become U+FFFD, and nobody could log in. */
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
    // Reported below like every other malformed line.
  }
  return { fields: {}, problem: 'not a JSON object' };
}
