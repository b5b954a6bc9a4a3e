import { createReadStream } from 'node:fs';

/** A line of an export has a few kilobytes. A file without line breaks must not fill the memory. */
const longestLine = 1_048_576;

/**
 * The lines of a file as bytes, without their line breaks. `node:readline` also breaks at U+2028, which JSON may contain, and
 * decodes bytes, so that two different lines could look alike.
 * @throws Error when a line is too long
 */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let to = rest.indexOf(10); to >= 0; to = rest.indexOf(10, from)) {
      yield rest.subarray(from, to);
      from = to + 1;
    }
    rest = rest.subarray(from);
    if (rest.length > longestLine) throw new Error('a line is longer than 1 MiB: this is no export of a log');
  }
  if (rest.length > 0) yield rest;
}

export const linesOfFile = (path: string): AsyncGenerator<Buffer> => linesOf(createReadStream(path));

/** The members of a line, or undefined if the line is no JSON object. */
export function membersOf(line: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(String(line));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
