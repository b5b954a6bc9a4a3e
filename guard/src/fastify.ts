import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Auth } from './auth.js';
import { type Demands, readDemands } from './demands.js';
import { authenticateRequest } from './http-answer.js';
import type { Verifier } from './verifier.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireAccessToken` of @portal-auth/guard. */
    auth?: Auth;
  }
}

/**
 * A hook for Fastify 4 and 5: `app.addHook('onRequest', requireAccessToken(verifier))`, or `onRequest` of one route. It
 * sets `request.auth`, or answers 401 or 503 before the body is read.
 * @param demands what these routes ask for, in addition to the options of the verifier
 */
export function requireAccessToken(verifier: Verifier, demands?: Demands) {
  readDemands(demands);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const result = await authenticateRequest(verifier, request, demands);
    if ('auth' in result) {
      request.auth = result.auth;
      return undefined;
    }
    const { status, headers, body } = result.refusal;
    return reply.code(status).headers(headers).send(body);
  };
}
