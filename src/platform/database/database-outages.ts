import { Injectable, Logger } from '@nestjs/common';
import { storeCode } from './store-failure';
import { isRefusedLogin } from './store-reason';

/** The server runs and refuses only this connection, because it has too many. */
const tooManyConnections = new Set(['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED']);

/** Logs one line for the start of an outage of the database and one for its end, however many requests notice it. */
@Injectable()
export class DatabaseOutages {
  private readonly logger = new Logger('database');
  private awaySince: number | undefined;
  private lastAnswer = Number.NEGATIVE_INFINITY;
  private changes = 0;

  /**
   * The number of outages and recoveries so far. Read it before a statement is sent. If it has changed when the answer
   * comes, the answer proves nothing about the current state.
   */
  get mark(): number {
    return this.changes;
  }

  /** The server answered, possibly with an error. */
  answered(mark: number): void {
    const now = performance.now();
    this.lastAnswer = now;
    if (this.awaySince === undefined || mark !== this.changes) return;
    this.logger.log({ seconds: Math.round((now - this.awaySince) / 1000) }, 'the database is back');
    this.awaySince = undefined;
    this.changes++;
  }

  /**
   * No connection could be made. A connection that breaks is not reported here, because the next attempt to connect
   * shows whether it is an outage.
   */
  refused(error: unknown): void {
    // NewConnections logs a server that does not let the account in.
    if (!tooManyConnections.has(storeCode(error)) && !isRefusedLogin(error))
      this.away(storeCode(error) || (error as Error).name);
  }

  /**
   * A wait ended without an answer. If other statements were answered meanwhile, the cause is a lock or a small pool,
   * not an outage.
   */
  silent(waitedMs: number): void {
    if (performance.now() - this.lastAnswer >= waitedMs) this.away('ETIMEDOUT');
  }

  /** Logs only the code, because the message of a driver may quote the user name or the URL with its password. */
  private away(code: string): void {
    if (this.awaySince !== undefined) return;
    this.awaySince = performance.now();
    this.changes++;
    this.logger.error({ code }, 'the database is away, trying again');
  }
}
