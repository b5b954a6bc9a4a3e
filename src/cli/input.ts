import { createReadStream } from 'node:fs';
import { type RowFormat, rowFormats } from '../admin/import-rows';
import { AccountProblem } from '../users/user-accounts';

/** What stands for standard input where a command takes a file. A pod has no file: its root file system is read-only. */
export const standardInput = '-';

/** Without `-i`, `kubectl exec` gives the program an empty input, which must not look like an empty file. */
export const emptyInput = 'standard input is empty: redirect a file to it; kubectl exec needs -i';

/** @param file a path, or `-` for standard input */
export const openInput = (file: string): NodeJS.ReadableStream =>
  file === standardInput ? process.stdin : createReadStream(file);

/** The text of a file without the last line break. A secret in a file does not show in the process list. */
export async function textOfInput(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of openInput(file)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

/** The parts of a file of rows. @throws AccountProblem when standard input has none */
export async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  let empty = true;
  for await (const chunk of openInput(file)) {
    empty = false;
    yield chunk as Buffer;
  }
  if (empty && file === standardInput) throw new AccountProblem(emptyInput);
}

/** @throws AccountProblem if the name of the file does not tell its format */
export function formatOf(file: string): RowFormat {
  const format = rowFormats.find((one) => file.endsWith(`.${one}`));
  if (format !== undefined) return format;
  if (file === standardInput)
    throw new AccountProblem('standard input has no name: give --format csv, jsonl or ndjson');
  throw new AccountProblem('the name of the file must end in .csv, .jsonl or .ndjson; otherwise give --format');
}
