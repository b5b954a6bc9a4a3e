import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Auth } from './auth.js';
import { type Demands, readDemands } from './demands.js';
import { authenticateRequest } from './http-answer.js';
import type { Verifier } from './verifier.js';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Express {
    interface Request {
      /** Set by `requireAccessToken` of @portal-auth/guard. */
      auth?: Auth;
    }
  }
}

type Middleware = (
  request: IncomingMessage & { auth?: Auth },
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * A middleware for Express 4 and 5, and for everything that takes the same middleware. It sets `request.auth`, or answers
 * 401 or 503.
 * @param demands what these routes ask for, in addition to the options of the verifier
 */
export function requireAccessToken(verifier: Verifier, demands?: Demands): Middleware {
  readDemands(demands);
  return (request, response, next) => {
    authenticateRequest(verifier, request, demands).then((result) => {
      if ('auth' in result) {
        request.auth = result.auth;
        return next();
      }
      const { status, headers, body } = result.refusal;
      response.writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(body));
    }, next);
  };
}
