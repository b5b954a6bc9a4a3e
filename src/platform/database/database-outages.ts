import { Injectable, Logger } from '@nestjs/common';
import { storeCode } from './store-failure';

/** The server is there and refuses this connection only: it has too many. */
const crowded = new Set(['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED']);

/** Logs that the database went away and that it came back: one line each, however many requests notice it. */
@Injectable()
export class DatabaseOutages {
  private readonly logger = new Logger('database');
  private awaySince: number | undefined;
  private lastAnswer = Number.NEGATIVE_INFINITY;
  private changes = 0;

  /** Taken when a question is put: an answer to a question of before the last change says nothing of the time after it. */
  get mark(): number {
    return this.changes;
  }

  /** The server answered, be it with an error. */
  answered(mark: number): void {
    const now = performance.now();
    this.lastAnswer = now;
    if (this.awaySince === undefined || mark !== this.changes) return;
    this.logger.log({ seconds: Math.round((now - this.awaySince) / 1000) }, 'the database is back');
    this.awaySince = undefined;
    this.changes++;
  }

  /** No connection could be made. A connection that breaks is not told: the next one shows what it meant. */
  refused(error: unknown): void {
    if (!crowded.has(storeCode(error))) this.away(storeCode(error) || (error as Error).name);
  }

  /** A wait ended without an answer. While others are answered it is a lock or a pool that is too small, no outage. */
  silent(waitedMs: number): void {
    if (performance.now() - this.lastAnswer >= waitedMs) this.away('ETIMEDOUT');
  }

  /** Only the code: a driver's message may quote the user name, or the address with its password. */
  private away(code: string): void {
    if (this.awaySince !== undefined) return;
    this.awaySince = performance.now();
    this.changes++;
    this.logger.error({ code }, 'the database is away, trying again');
  }
}
