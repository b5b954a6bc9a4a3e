import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ndjson } from '../../platform/http/answers.decorator';
import { DomainError } from '../../shared/errors/domain-error';
import { tooManyRequests } from '../../shared/errors/error-catalogue';
import type { CurrentSession } from '../../sessions/current-session';
import { LiveSessions } from '../../sessions/live-sessions';
import { YoungSessionGuard } from '../../sessions/young-session.guard';
import { AdminChanges } from '../admin-changes';
import { callerOf } from './caller';
import type { Reader } from './lists';

/** The limits of exports. Tests inject lower values. */
export abstract class ExportLimits {
  /** Exports that run at once in this process. Each one holds two pages of rows, and its reads occupy the database. */
  abstract readonly atOnce: number;
  /** An export whose client takes nothing for so long is cut off. */
  abstract readonly unreadMs: number;
}

export const exportLimits: ExportLimits = { atOnce: 4, unreadMs: 30_000 };

/** The client learns how long to wait, but not when the others end. */
const retrySeconds = 10;

type ExportRequest = FastifyRequest<{ Params: { uid?: string } }> & { user: CurrentSession; reader?: Reader };

/** The exports of this process: all rows of a list as NDJSON (docs/operations/administration.md#exports). */
@Injectable()
export class Exports {
  /** The administrators whose exports run. */
  private readonly running = new Set<string>();

  constructor(
    private readonly changes: AdminChanges,
    private readonly sessions: LiveSessions,
    private readonly limits: ExportLimits,
  ) {}

  readerOf(request: ExportRequest): Reader {
    const { user: session, params, routeOptions } = request;
    const list = routeOptions.url?.split('/').at(-1) ?? '';
    return {
      unreadMs: this.limits.unreadMs,
      enter: () => this.enter(session.user.uid),
      isAdmitted: async () => (await this.sessions.rightsOf(session))?.isAdmin === true,
      record: () =>
        this.changes.make(callerOf(request), ({ record }) =>
          list.endsWith('-logs')
            ? record('LOG_EXPORTED', { detail: { log: list.replace('-', '_') } })
            : record('LIST_EXPORTED', { userId: params.uid, detail: { list } }),
        ),
    };
  }

  /** Each administrator has one place, so that one of them cannot take them all. @throws DomainError COMMON_429001 */
  private enter(uid: string): () => void {
    if (this.running.has(uid) || this.running.size >= this.limits.atOnce) {
      throw new DomainError(tooManyRequests, { retry_after: retrySeconds });
    }
    this.running.add(uid);
    return () => this.running.delete(uid);
  }
}

/** A list that is asked for as NDJSON is an export: it needs a young session. It runs after AdminGuard. */
@Injectable()
export class ExportGuard implements CanActivate {
  constructor(
    private readonly youngSession: YoungSessionGuard,
    private readonly exports: Exports,
  ) {}

  /** @throws DomainError AUTH_403002 */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<ExportRequest>();
    const { accept = '' } = request.headers;
    const asked = accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === ndjson);
    if (!asked) return true;
    await this.youngSession.canActivate(context);
    request.reader = this.exports.readerOf(request);
    return true;
  }
}
