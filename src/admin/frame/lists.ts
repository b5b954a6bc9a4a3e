import { Readable } from 'node:stream';
import { createParamDecorator, type ExecutionContext, StreamableFile } from '@nestjs/common';
import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { ndjson } from '../../platform/http/answers.decorator';
import { ApiProperty } from '../../platform/http/api-docs';
import { cursorOf, type Place, placeOf, type PlaceShape } from './cursor';

const defaultLimit = 50;
const maxLimit = 200;
/** Rows of one statement of a stream. Memory holds two such pages at most. */
const streamedRows = 1000;

/** For the description of each list in the OpenAPI document. */
export const streamNote = `With \`Accept: ${ndjson}\` all rows, one item in JSON per line, without an envelope.`;

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

/** `@Streamed() streamed: boolean`: the client asks for NDJSON. */
export const Streamed = createParamDecorator((_data: unknown, context: ExecutionContext): boolean => {
  const { accept = '' } = context.switchToHttp().getRequest<FastifyRequest>().headers;
  return accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === ndjson);
});

/**
 * Answers one page, or a stream of all rows from `after` on. The stream reads the next rows when the client has taken
 * the former ones, and stops reading when the client goes away.
 * @param shape the types of the places of this list
 * @throws DomainError COMMON_400001 for a wrong cursor
 */
export async function listed<Item>(
  { limit, after }: PageQuery,
  streamed: boolean,
  shape: PlaceShape,
  read: ReadRows<Item>,
): Promise<Page<Item> | StreamableFile> {
  const place = after === undefined ? undefined : placeOf(after, shape);
  if (streamed) return streamOf(read, place);
  const { items, next } = await read(Number(limit ?? defaultLimit), place);
  return { items, next: next && cursorOf(next) };
}

/** The first rows are read before the answer begins, so that a failure of the database is still a 503. */
async function streamOf<Item>(read: ReadRows<Item>, after: Place | undefined): Promise<StreamableFile> {
  const first = await read(streamedRows, after);
  const source = Readable.from(linesOf(first, read), { objectMode: false, highWaterMark: 64 * 1024 });
  return new StreamableFile(source, { type: ndjson });
}

async function* linesOf<Item>(first: Rows<Item>, read: ReadRows<Item>): AsyncGenerator<string> {
  for (let rows = first; ; rows = await read(streamedRows, rows.next)) {
    // Also without items: the stream of a client that has gone away ends at the next `yield`.
    yield rows.items.map((item) => `${JSON.stringify(item)}\n`).join('');
    if (rows.next === null) return;
  }
}
