import { Injectable, Logger, Optional } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { Database } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { type LoginRow, LogSink } from './log-sink';
import { LoginLogs } from './login-log.repository';

/**
 * The second factor of a login: a code by mail or authenticator, a recovery code, or a trusted device without a code. A
 * passkey is both factors.
 */
export type LoginFactor = 'email' | 'totp' | 'recovery' | 'device' | 'passkey';

export interface LoginAttempt {
  /** Null when no user has the login name. */
  readonly userId: string | null;
  readonly loginName: string;
  readonly provider: string;
  readonly mfa: LoginFactor | null;
  /** `success` or the error code. */
  readonly outcome: string;
}

/** Rows of 700 bytes that fill two pages of 16 KiB. */
const rehearsedRows = 50;

/**
 * Writes the rows of `login_logs` (docs/spec/service.md#6.3). A login with a second factor or a forced password change
 * has one success row, written at its end.
 */
@Injectable()
export class LoginJournal {
  private readonly logger = new Logger('login');
  /** Rows that could not be written since the start, for the metrics. */
  lostRows = 0;

  constructor(
    private readonly database: Database,
    private readonly logs: LoginLogs,
    private readonly clock: Clock,
    @Optional() private readonly sink?: LogSink,
  ) {}

  /** Runs in the transaction that issues the tokens, so that the row and the tokens exist together or not at all. */
  async succeeded(sql: Sql, attempt: Omit<LoginAttempt, 'outcome'>, client: ClientInfo): Promise<void> {
    await this.insert(sql, { ...attempt, outcome: 'success' }, client);
  }

  /** Never throws: if the row cannot be written, the refusal is still answered, an error is logged and the row counted. */
  async failed(attempt: LoginAttempt, client: ClientInfo): Promise<void> {
    try {
      await this.insert(this.database, attempt, client);
    } catch (error) {
      this.lostRows++;
      this.logger.error({ requestId: client.requestId, err: error }, 'login_logs row not written');
    }
  }

  /**
   * Inserts rows that need more than one new page of the database. The caller rolls them back: they only show whether the
   * table can grow.
   */
  async rehearse(sql: Sql): Promise<void> {
    const client = { ip: '', userAgent: 'x'.repeat(500), requestId: 'rehearsal' } as ClientInfo;
    const attempt = { userId: null, loginName: 'x'.repeat(200), provider: 'password', mfa: null, outcome: 'rehearsal' };
    for (let row = 0; row < rehearsedRows; row++) await this.logs.insert(sql, this.rowOf(attempt, client));
  }

  private async insert(sql: Sql, attempt: LoginAttempt, client: ClientInfo): Promise<void> {
    const row = this.rowOf(attempt, client);
    const insert = (into: Sql) => this.logs.insert(into, row);
    await (this.sink === undefined ? insert(sql) : this.sink.login(sql, row, insert));
  }

  private rowOf(attempt: LoginAttempt, { ip, userAgent, requestId }: ClientInfo): LoginRow {
    const loginName = attempt.loginName.slice(0, 255);
    return { ...attempt, loginName, ip, userAgent, requestId, createdAt: this.clock.now() };
  }
}
