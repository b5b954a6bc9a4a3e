import { Readable } from 'node:stream';
import { createParamDecorator, type ExecutionContext, StreamableFile } from '@nestjs/common';
import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { withOwnTime } from '../../platform/database/database-waits';
import { csv as csvType, ndjson } from '../../platform/http/answers.decorator';
import { ApiProperty } from '../../platform/http/api-docs';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked } from '../../shared/errors/error-catalogue';
import { byteOrderMark, csvLine } from './csv';
import { type CursorForm, cursorOf, type Place, placeOf, type PlaceShape, plainCursors } from './cursor';

const defaultLimit = 50;
const maxLimit = 200;
/** Rows of one statement of a stream. Memory holds two such pages at most. */
const streamedRows = 1000;
/** Characters that are sent at once, so that a client that reads slowly is told from one that reads nothing. */
const pieceLength = 16_384;

/** For the description of each list in the OpenAPI document. */
export const streamNote = `With \`Accept: ${ndjson}\` all rows, one item in JSON per line, without an envelope.`;

/** Of `next`, for the OpenAPI document. */
export const nextCursor = {
  type: 'string',
  nullable: true,
  description: 'The cursor of the next page, or null after the last one.',
} as const;

/** The query of each list. Lists extend it with their filters. */
export class PageQuery {
  @ApiProperty({
    ...{ type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit, required: false },
    description: 'The greatest number of items of a page.',
  })
  @IsOptional()
  @Matches(/^([1-9]\d?|1\d\d|200)$/, { message: `limit must be a whole number from 1 to ${maxLimit}` })
  limit?: string;

  @ApiProperty({ required: false, description: '`next` of the page before. Without it the first page.' })
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  after?: string;
}

/** The rows after a place, and the place of the last one if there are more. */
export interface Rows<Item> {
  readonly items: readonly Item[];
  readonly next: Place | null;
}

/** @param after undefined for the first rows */
export type ReadRows<Item> = (limit: number, after: Place | undefined) => Promise<Rows<Item>>;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page, or null after the last one. */
  readonly next: string | null;
}

/** The administrator who reads an export. ExportGuard puts it on the request. */
export interface Reader {
  /** As CSV instead of NDJSON, where the list has columns. */
  readonly csv: boolean;
  /** The stream is cut off when nobody reads for so long. */
  readonly unreadMs: number;
  /** @returns the function to call at the end of the export @throws DomainError COMMON_429001 */
  enter(): () => void;
  /** Writes the audit row. */
  record(): Promise<void>;
  /** Whether the session goes on with the rights that AdminGuard has admitted. A move to another tenant ends it, too. */
  isAdmitted(): Promise<boolean>;
}

/** `@Streamed() streamed: Reader | undefined`: who reads the stream, or undefined when the client asks for a page. */
export const Streamed = createParamDecorator((_data: unknown, context: ExecutionContext): Reader | undefined => {
  return context.switchToHttp().getRequest<FastifyRequest & { reader?: Reader }>().reader;
});

/** The columns of a list as CSV, and the name of the file without its ending. */
export interface CsvTable<Item> {
  readonly name: string;
  readonly columns: readonly (keyof Item & string)[];
}

/** How the items of a list become a file. */
interface FileForm<Item> {
  readonly head: string;
  readonly line: (item: Item) => string;
  readonly options: { readonly type: string; readonly disposition?: string };
}

function fileForm<Item>({ csv }: Reader, table: CsvTable<Item> | undefined): FileForm<Item> {
  if (!csv || table === undefined)
    return { head: '', line: (item) => `${JSON.stringify(item)}\n`, options: { type: ndjson } };
  const { name, columns } = table;
  return {
    head: byteOrderMark + csvLine(columns),
    line: (item) => csvLine(columns.map((column) => item[column])),
    options: { type: `${csvType}; charset=utf-8`, disposition: `attachment; filename="${name}.csv"` },
  };
}

/** Reads rows that are all in memory. They are in the order of their places: the latest time first, then by id. */
export function newestFirst<Row, Item>(
  rows: readonly Row[],
  place: (row: Row) => readonly [time: number, id: string],
  item: (row: Row) => Item,
): ReadRows<Item> {
  return (limit, after) => {
    const rest = rows.filter((row) => after === undefined || isAfter(place(row), after));
    const items = rest.slice(0, limit);
    const last = items.at(-1);
    return Promise.resolve({ items: items.map(item), next: rest.length > limit && last ? place(last) : null });
  };
}

function isAfter([time, id]: readonly [number, string], [lastTime, lastId]: Place): boolean {
  return time < Number(lastTime) || (time === lastTime && id > String(lastId));
}

/**
 * Answers one page, or a stream of all rows from `after` on. The stream reads the next rows when the client has taken
 * the former ones, and stops reading when the client goes away. A stream can last for a long time, so it is cut off
 * before the next read when its reader is not admitted any more.
 * @param shape the types of the places of this list
 * @param table the columns of the list as CSV, if it is offered so
 * @throws DomainError COMMON_400001 for a wrong cursor
 */
export async function listed<Item>(
  { limit, after }: PageQuery,
  streamed: Reader | undefined,
  shape: PlaceShape,
  read: ReadRows<Item>,
  cursors: CursorForm = plainCursors,
  table?: CsvTable<Item>,
): Promise<Page<Item> | StreamableFile> {
  const place = after === undefined ? undefined : placeOf(after, shape, cursors);
  if (streamed !== undefined) return streamOf(read, place, streamed, fileForm(streamed, table));
  const { items, next } = await read(Number(limit ?? defaultLimit), place);
  return { items, next: next && cursorOf(next, cursors) };
}

/**
 * The first rows are read before the answer begins, so that a failure of the database is still a 503, and a user who does
 * not exist a 404. The audit row is committed before the first row leaves.
 */
async function streamOf<Item>(
  read: ReadRows<Item>,
  after: Place | undefined,
  reader: Reader,
  form: FileForm<Item>,
): Promise<StreamableFile> {
  const leave = reader.enter();
  try {
    const first = await read(streamedRows, after);
    await reader.record();
    return fileOf(linesOf(first, read, reader, form), reader, leave, form.options);
  } catch (error) {
    leave();
    throw error;
  }
}

/** An answer that is made while its client reads. @param leave called when the last read is done, also for a client that has gone away */
export function fileOf(
  made: AsyncGenerator<string>,
  { unreadMs }: Pick<Reader, 'unreadMs'>,
  leave: () => void,
  options: { readonly type: string; readonly disposition?: string },
): StreamableFile {
  const pieces = watched(made, unreadMs, () => source.destroy(new Error('unread')));
  const source = Readable.from(pieces, { objectMode: false, highWaterMark: 64 * 1024 });
  source.once('close', leave);
  return new StreamableFile(source, options);
}

/** Calls `cut` when nobody asks for the next piece for so long, also for the first one. Reads do not count. */
function watched(pieces: AsyncGenerator<string>, ms: number, cut: () => void): AsyncGenerator<string> {
  let timer = setTimeout(cut, ms).unref();
  const each = async function* () {
    try {
      clearTimeout(timer);
      for await (const piece of pieces) {
        timer = setTimeout(cut, ms).unref();
        yield piece;
        clearTimeout(timer);
      }
    } finally {
      clearTimeout(timer);
    }
  };
  return each();
}

async function* linesOf<Item>(
  first: Rows<Item>,
  read: ReadRows<Item>,
  reader: Reader,
  { head, line }: FileForm<Item>,
): AsyncGenerator<string> {
  const readOn = async (after: Place): Promise<Rows<Item>> => {
    // The error destroys the connection, so the client sees that its copy is incomplete.
    if (!(await reader.isAdmitted())) throw new DomainError(accessTokenRevoked);
    return read(streamedRows, after);
  };
  let piece = head;
  for (let rows = first; ;) {
    for (const item of rows.items) {
      piece += line(item);
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = '';
    }
    // Also without items: the stream of a client that has gone away ends at the next `yield`.
    yield piece;
    piece = '';
    const { next } = rows;
    if (next === null) return;
    rows = await withOwnTime(() => readOn(next));
  }
}
