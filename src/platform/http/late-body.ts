import { applyDecorators, createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiBody } from './api-docs';
import { parsedJson } from './body-parser';
import { Marked, marksOf } from './route-marks';
import { readAtMost } from './unread-body';
import { validated } from './validation';

/**
 * The body of the route is larger than those of other routes. `@LateBody()` reads it after the guards, so nobody else makes the
 * service hold it in memory. @param bytes its largest size
 */
export const TakesLate = (bytes: number, type: Type<object>): MethodDecorator =>
  applyDecorators(Marked({ largestBody: bytes, lateBody: type }), ApiBody({ required: true, type }));

/** `@LateBody() body: UnreadBody<ChangeBrandDto>` of a route that `TakesLate`. */
export const LateBody = createParamDecorator((_data: unknown, context: ExecutionContext): UnreadBody<object> => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { read: () => read(request) };
});

/** A body that is not read yet. */
export interface UnreadBody<T> {
  /** @throws DomainError COMMON_400001, COMMON_413001 for one that is too large */
  read(): Promise<T>;
}

async function read(request: FastifyRequest): Promise<object> {
  const { largestBody, lateBody } = marksOf(request);
  if (largestBody === undefined || lateBody === undefined) throw new Error('the route does not take a late body');
  const content = await readAtMost(largestBody, request.raw, request);
  return validated(lateBody, content.length === 0 ? undefined : parsedJson(content));
}
