import type { ParameterizedContext } from 'koa';
import { isStoreFailure } from '../../platform/database/store-failure';
import { DataKeyMismatch } from '../../platform/crypto/key-ring';
import { DomainError } from '../../shared/errors/domain-error';
import { outagePage } from './pages';

const retrySeconds = 2;

/**
 * A store or a directory that is away: the request is in order, and may be sent again. If the store failed after the use of a code
 * or refresh token was stored, the second request is a second use, which ends the grant: nobody can tell it from a theft.
 */
export const isOutage = (error: unknown): boolean =>
  isStoreFailure(error) ||
  error instanceof DataKeyMismatch ||
  (error instanceof DomainError && error.entry.status === 503);

/** Replaces the answer of the package, which is 500. */
export function answerOutage(ctx: ParameterizedContext): void {
  ctx.status = 503;
  ctx.set('retry-after', String(retrySeconds));
  if (ctx.accepts('json', 'html') === 'html') outagePage(ctx);
  else ctx.body = { error: 'temporarily_unavailable', error_description: 'the service cannot answer at the moment' };
}

/** For what fails outside the routes of the package: it reads and stores the session of the browser around them. */
export async function outages(ctx: ParameterizedContext, next: () => Promise<unknown>): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!isOutage(error)) throw error;
    answerOutage(ctx);
  }
}
