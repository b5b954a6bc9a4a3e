import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';
import { ApiBody, ApiConsumes } from './api-docs';
import { Marked, marksOf } from './route-marks';
import { readAtMost } from './unread-body';

/** The body of the route is a file of CSV, which `@CsvBody()` reads. @param bytes its largest size */
export const TakesCsv = (bytes: number): MethodDecorator =>
  applyDecorators(
    Marked({ csvBody: bytes }),
    ApiConsumes('text/csv'),
    ApiBody({ required: true, schema: { type: 'string' } }),
  );

/** A body that is not read yet. */
export interface UnreadFile {
  /** @throws DomainError COMMON_400001 without a body, COMMON_413001 for one that is too large */
  read(): Promise<Buffer>;
}

/** `@CsvBody() file: UnreadFile` of a route that `TakesCsv`. */
export const CsvBody = createParamDecorator((_data: unknown, context: ExecutionContext): UnreadFile => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { read: () => readCsvBody(request, marksOf(request).csvBody ?? 0) };
});

export function readCsvBody(request: FastifyRequest, bytes: number): Promise<Buffer> {
  const source = request.body as Readable | undefined;
  if (source === undefined) throw new DomainError(requestInvalid, { fields: { body: ['body must be a file of CSV'] } });
  return readAtMost(bytes, source, request);
}
