import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerModuleOptions, type ThrottlerStorage } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../../shared/client-network';
import { DomainError } from '../../shared/errors/domain-error';
import { tooManyRequests } from '../../shared/errors/error-catalogue';
import type { LimitSettings } from '../config/limit-settings';
import type { KeyRing } from '../crypto/key-ring';
import { limitOf } from './rate-limited.decorator';

const minute = 60_000;

/**
 * Runs before all other guards, so that requests which they refuse are counted too
 * (docs/spec/decisions.md#rate-limits).
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  // `limitsOf` answers everything, and no route has metadata of the throttler. The guard would look for six kinds of it
  // at each request, twice.
  protected override readonly reflector = { getAllAndOverride: () => undefined } as unknown as Reflector;

  protected override throwThrottlingException(
    _context: ExecutionContext,
    { timeToBlockExpire }: { readonly timeToBlockExpire: number },
  ): Promise<void> {
    return Promise.reject(new DomainError(tooManyRequests, { retry_after: Math.max(1, timeToBlockExpire) }));
  }
}

/**
 * Counts each request by the route group and the address of the client, and then by the route and the target (ADR
 * 0011). Keys consist of the matched route and canonical values only. A target is stored as a keyed hash. A request
 * that exceeds the limit of its address is not counted for its target.
 */
export function limitsOf(limits: LimitSettings, keys: KeyRing, storage: ThrottlerStorage): ThrottlerModuleOptions {
  const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<FastifyRequest>();
  const group = (context: ExecutionContext) => {
    const { group: declared } = limitOf(context);
    return typeof declared === 'function' ? declared(requestOf(context)) : declared;
  };
  const target = (context: ExecutionContext) => limitOf(context).target?.(requestOf(context));
  return {
    storage,
    setHeaders: false,
    throttlers: [
      {
        name: 'address',
        ttl: minute,
        limit: (context) => limits[group(context) ?? 'other'],
        skipIf: (context) => group(context) === undefined,
        getTracker: (_, context) => networkOf(requestOf(context).client.ip),
        generateKey: (context, network) => `limit:${group(context)}:${network}`,
      },
      {
        name: 'target',
        ttl: minute,
        limit: limits.target,
        skipIf: (context) => target(context) === undefined,
        getTracker: (_, context) => keys.mac('rate-limit', target(context) ?? ''),
        generateKey: (context, hash) => `limit:${requestOf(context).routeOptions.url}:${hash}`,
      },
    ],
  };
}
