import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AdminSettings } from '../../sessions/session-settings';
import { DomainError } from '../../shared/errors/domain-error';
import { notPermitted } from '../../shared/errors/error-catalogue';
import type { CurrentSession } from '../../sessions/current-session';
import { hasSecondFactor } from '../../sessions/authentication-context';
import { roleOf } from '../../users/rights';
import { isAdmitted, permissionOf } from './declared-routes';
import { isPermitted } from './permissions';

/**
 * Admits administrators whose tenant has the permission of the route, and the holders of the roles that the route names
 * (docs/spec/extensions.md#d, docs/spec/extensions.md#roles). It runs after AccessTokenGuard, which has read the row of the user in the statement that checked the token. So a demotion, or the end of a role, is known
 * to the next request, on every replica.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly settings: AdminSettings) {}

  /** @throws DomainError AUTH_403001 */
  canActivate(context: ExecutionContext): boolean {
    const { user, payload } = context.switchToHttp().getRequest<FastifyRequest & { user: CurrentSession }>().user;
    const route = context.getHandler();
    const permission = permissionOf(route);
    const role = roleOf(user);
    const entitled = user.isAdmin || (role !== undefined && isAdmitted(route, role));
    const strong = !this.settings.requiresMfa || hasSecondFactor(payload.amr);
    const admitted = permission !== undefined && entitled && strong && isPermitted(permission, user.tenantId);
    if (!admitted) throw new DomainError(notPermitted);
    return true;
  }
}
