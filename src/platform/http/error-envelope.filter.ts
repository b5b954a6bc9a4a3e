import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClientGone } from '../../shared/errors/client-gone';
import { DomainError } from '../../shared/errors/domain-error';
import {
  bodyTooLarge,
  internalError,
  mediaTypeUnsupported,
  requestInvalid,
  routeNotFound,
} from '../../shared/errors/error-catalogue';
import { DataKeyMismatch } from '../crypto/key-ring';
import { isStoreFailure, storeUnavailable } from '../database/store-failure';
import { sendError } from './error-envelope';

/**
 * Renders each error as `{"error_code", "msg", "data"?}` (docs/spec/service.md#7). An unexpected error is logged, and
 * the client gets COMMON_500001 without any detail.
 */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const error = asDomainError(thrown);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error.entry === internalError) {
      this.logger.error({ requestId: request.id, err: error.cause ?? error }, error.entry.code);
    } else if (error.entry.status >= 500 && !(error instanceof ClientGone)) {
      // Not a line of its own: in an outage each request would write two.
      reply.outage = error;
    }
    sendError(reply, error, request.client?.language);
  }
}

/** What an error is in the words of the catalogue. One that nobody has thought of is COMMON_500001. */
export function asDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  if (isOfLostClient(thrown)) return new ClientGone();
  // The operator has to act. Neither the request nor the code is wrong.
  if (isStoreFailure(thrown) || thrown instanceof DataKeyMismatch) return storeUnavailable(thrown);
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusOfFramework(thrown);
  switch (status) {
    case 400:
    // The files of the pages and of /docs: If-Match and If-Unmodified-Since (412), Range (416).
    case 412:
    case 416:
      return new DomainError(requestInvalid);
    // The files of the pages and of /docs refuse a path that leaves their folder with 403.
    case 403:
    case 404:
      return new DomainError(routeNotFound);
    case 413:
      return new DomainError(bodyTooLarge);
    case 415:
      return new DomainError(mediaTypeUnsupported);
    default:
      return new DomainError(internalError, undefined, { cause: thrown });
  }
}

/**
 * Fastify destroys the stream of an answer when its client leaves, and calls that an error if nothing was sent yet. A
 * stream that fails by itself has another error.
 */
function isOfLostClient(thrown: unknown): boolean {
  return (thrown as { code?: unknown } | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Errors of Fastify (body, parser) carry a status. Errors of this service never do. */
function statusOfFramework(thrown: unknown): number {
  const { statusCode, code } = (thrown ?? {}) as { statusCode?: unknown; code?: unknown };
  return typeof statusCode === 'number' && typeof code === 'string' && code.startsWith('FST_') ? statusCode : 500;
}
