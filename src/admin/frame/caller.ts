import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CurrentSession } from '../../sessions/current-session';
import { roleOf } from '../../users/rights';
import { scopeOf } from '../admin-scope';
import type { Administrator } from '../authority';

/**
 * `@Caller() by: Authority` or `Administrator`: the administrator or the holder of a role who sends the request, with the tenant of the row that the guard
 * has read.
 */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Administrator =>
  callerOf(context.switchToHttp().getRequest()),
);

export function callerOf(request: Pick<FastifyRequest, 'client'> & { readonly user: CurrentSession }): Administrator {
  const { user, credentialVersion } = request.user;
  const actor = { id: user.uid, client: request.client };
  return { scope: scopeOf(user), actor, credentialVersion, role: roleOf(user) };
}
