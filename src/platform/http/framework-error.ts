import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid, routeNotFound } from '../../shared/errors/error-catalogue';
import { negotiateLanguage } from '../../shared/languages';
import { answerHeaders } from './answer-headers';
import { sendError } from './error-envelope';

/**
 * What the router refuses before any hook has run, such as a path that is no UTF-8. Its own answer would quote the path,
 * with whatever token is in it.
 */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...answerHeaders, 'x-request-id': request.id });
  const entry = error.code === 'FST_ERR_BAD_URL' ? requestInvalid : routeNotFound;
  sendError(reply, new DomainError(entry), negotiateLanguage(request.headers['accept-language']));
}
