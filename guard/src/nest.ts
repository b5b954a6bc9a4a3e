import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  HttpException,
  SetMetadata,
} from '@nestjs/common';

import { type Auth as AuthClaims, authOf } from './auth.js';
import { type Demands, readDemands, strictest } from './demands.js';
import { authenticateRequest } from './http-answer.js';
import type { CheckedRequest } from './request.js';
import type { Verifier } from './verifier.js';

const publicRoute = 'portal-auth:public';
const stepUp = 'portal-auth:step-up';

/** Opens a route, or all routes of a controller, to requests without a token. */
export const Public = () => SetMetadata(publicRoute, true);

/**
 * Asks for more than a valid token, at a route or at all routes of a controller: `@StepUp({ maxAgeSeconds: 300 })`. The
 * options of the verifier, the controller and the route hold together.
 */
export const StepUp = (demands: Demands) => SetMetadata(stepUp, readDemands(demands));

/** The parameter of a handler that gets `request.auth`. */
export const Auth = createParamDecorator((_: unknown, context: ExecutionContext): AuthClaims =>
  authOf(context.switchToHttp().getRequest<{ auth?: AuthClaims }>()),
);

interface HttpRequest extends CheckedRequest {
  auth?: AuthClaims;
}

/** The common part of the responses of Express and Fastify. */
interface HttpResponse {
  header(name: string, value: string): unknown;
}

/**
 * A guard for Nest on Express and on Fastify: `{ provide: APP_GUARD, useFactory: () => new AccessTokenGuard(verifier) }`,
 * or `@UseGuards` on single routes. It sets `request.auth`, or throws an HttpException with 401 or 503.
 */
export class AccessTokenGuard implements CanActivate {
  readonly #verifier: Verifier;

  constructor(verifier: Verifier) {
    this.#verifier = verifier;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (isPublic(context)) return true;
    // A GraphQL or WebSocket handler has no HTTP request here, so it must not pass by accident.
    if (context.getType() !== 'http') throw new Error('AccessTokenGuard guards HTTP routes only');
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const result = await authenticateRequest(this.#verifier, request, demandsOf(context));
    if ('auth' in result) {
      request.auth = result.auth;
      return true;
    }
    const { status, headers, body } = result.refusal;
    const response = context.switchToHttp().getResponse<HttpResponse>();
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    throw new HttpException(body, status);
  }
}

function isPublic(context: ExecutionContext): boolean {
  return marksOf(context, publicRoute).includes(true);
}

function demandsOf(context: ExecutionContext): Demands {
  return (marksOf(context, stepUp) as (Demands | undefined)[]).reduce<Demands>(
    (demands, more) => strictest(demands, more ?? {}),
    {},
  );
}

/** The values of a decorator at the route and at its controller. */
function marksOf(context: ExecutionContext, key: string): unknown[] {
  // Nest loads reflect-metadata, whose types are not needed here.
  const { getMetadata } = Reflect as unknown as { getMetadata: (key: string, target: object) => unknown };
  return [context.getHandler(), context.getClass()].map((target) => getMetadata(key, target));
}
