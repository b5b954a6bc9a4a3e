import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ndjson } from '../../platform/http/answers.decorator';
import { DomainError } from '../../shared/errors/domain-error';
import { notPermitted } from '../../shared/errors/error-catalogue';
import type { CurrentSession } from '../../sessions/current-session';
import { LiveSessions } from '../../sessions/live-sessions';
import { YoungSessionGuard } from '../../sessions/young-session.guard';
import { administrates, roleOf } from '../../users/rights';
import { AdminChanges } from '../admin-changes';
import { callerOf } from './caller';
import type { Reader } from './lists';
import { Places } from './places';

/** The limits of exports. Tests inject lower values. */
export abstract class ExportLimits {
  /** Exports that run at once in this process. Each one holds two pages of rows, and its reads occupy the database. */
  abstract readonly atOnce: number;
  /** An export whose client takes nothing for so long is cut off. */
  abstract readonly unreadMs: number;
}

export const exportLimits: ExportLimits = { atOnce: 4, unreadMs: 30_000 };

export type ExportRequest = FastifyRequest<{ Params: { uid?: string }; Querystring: { format?: unknown } }> & {
  user: CurrentSession;
  reader?: Reader;
};

/** The exports of this process: all rows of a list as NDJSON (docs/operations/administration.md#exports). */
@Injectable()
export class Exports {
  private readonly places: Places;

  constructor(
    private readonly changes: AdminChanges,
    private readonly sessions: LiveSessions,
    private readonly limits: ExportLimits,
  ) {
    this.places = new Places(limits.atOnce, 10);
  }

  readerOf(request: ExportRequest): Reader {
    const { user: session, params, query, routeOptions } = request;
    const list = routeOptions.url?.split('/').at(-1) ?? '';
    const csv = query.format === 'csv';
    return {
      csv,
      unreadMs: this.limits.unreadMs,
      enter: () => this.places.enter(session.user.uid),
      isAdmitted: async () => {
        const now = await this.sessions.rightsOf(session);
        return now !== undefined && administrates(now) && now.role === session.user.role;
      },
      record: () =>
        this.changes.make(callerOf(request), ({ record }) =>
          list.endsWith('-logs')
            ? record('LOG_EXPORTED', { detail: { log: list.replace('-', '_'), ...(csv && { format: 'csv' }) } })
            : record('LIST_EXPORTED', { userId: params.uid, detail: { list } }),
        ),
    };
  }
}

/** A list that is asked for as NDJSON or CSV is an export: it needs a young session. It runs after AdminGuard. */
@Injectable()
export class ExportGuard implements CanActivate {
  constructor(
    private readonly youngSession: YoungSessionGuard,
    private readonly exports: Exports,
  ) {}

  /** @throws DomainError AUTH_403001 for a help desk, AUTH_403002 */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<ExportRequest>();
    const { accept = '' } = request.headers;
    const lines = accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === ndjson);
    if (!lines && request.query.format !== 'csv') return true;
    // The help desk finds one user, and takes no list of all of them away.
    if (roleOf(request.user.user) === 'help_desk') throw new DomainError(notPermitted);
    await this.youngSession.canActivate(context);
    request.reader = this.exports.readerOf(request);
    return true;
  }
}
