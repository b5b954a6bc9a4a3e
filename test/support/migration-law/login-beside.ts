import { createConnection, type Connection } from 'mysql2/promise';

/** Longer than this, no statement of a login may wait for a migration. The database itself counts the seconds. */
export const longestWaitSeconds = 2;

/** What a login writes: its success at the user, a session with two tokens, and the log. `?` is the number of the user. */
const statements = [
  `UPDATE users SET login_failed_count = 0, last_login_success_time = UTC_TIMESTAMP(3) WHERE login_name_key = ?`,
  `INSERT INTO login_tokens (jti, token_type, user_identity, expires, sid, created_at)
   SELECT UUID(), 'refresh', uid, UTC_TIMESTAMP(3) + INTERVAL 7 DAY, UUID(), UTC_TIMESTAMP(3) FROM users WHERE login_name_key = ?`,
  `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
   SELECT uid, login_name, 'password', '10.0.0.1', 'Firefox', 'success', UUID(), UTC_TIMESTAMP(3) FROM users WHERE login_name_key = ?`,
];

const loginName = (n: number) => `user.name-${String(n).padStart(7, '0')}`;

/** Logs in one user after the other, on a connection that the database interrupts when a statement waits for a lock too long. */
export class LoginBeside {
  /** The statements that waited too long. */
  readonly held: string[] = [];
  logins = 0;
  longestSeconds = 0;
  private running = true;
  private readonly done: Promise<void>;

  private constructor(
    private readonly sql: Connection,
    private readonly users: number,
    private readonly migration: () => string,
  ) {
    this.done = this.work();
  }

  static async start(url: string, users: number, migration: () => string): Promise<LoginBeside> {
    const sql = await createConnection({ uri: url, timezone: 'Z' });
    await sql.query(
      `SET SESSION lock_wait_timeout = ${longestWaitSeconds}, innodb_lock_wait_timeout = ${longestWaitSeconds}`,
    );
    await sql.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    return new LoginBeside(sql, users, migration);
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.done;
    await this.sql.end();
  }

  /** Forgets the longest time, at the start of another migration. */
  takeLongest(): number {
    const longest = this.longestSeconds;
    this.longestSeconds = 0;
    return longest;
  }

  private async work(): Promise<void> {
    while (this.running) {
      // In no order, and each user in the course of time.
      const name = loginName((this.logins * 7919) % this.users);
      for (const statement of statements) await this.timed(statement, name);
      this.logins += 1;
    }
  }

  private async timed(statement: string, name: string): Promise<void> {
    const begun = performance.now();
    try {
      await this.sql.query(statement, [name]);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ER_LOCK_WAIT_TIMEOUT') throw error;
      this.held.push(`${this.migration()}: ${statement.split(' ', 3).join(' ')}`);
    }
    this.longestSeconds = Math.max(this.longestSeconds, (performance.now() - begun) / 1000);
  }
}

/**
 * Asks for every lock that a login may need, and waits for none.
 * @returns what the migration still holds between two statements
 */
export async function lockedForLogins(sql: Connection): Promise<string | undefined> {
  await sql.query('SET SESSION lock_wait_timeout = 0, innodb_lock_wait_timeout = 0');
  await sql.beginTransaction();
  try {
    await sql.query('SELECT uid FROM users FOR UPDATE');
    for (const statement of statements) await sql.query(statement, [loginName(0)]);
    return undefined;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ER_LOCK_WAIT_TIMEOUT') throw error;
    return (error as { sql?: string }).sql?.split(' ', 3).join(' ');
  } finally {
    await sql.rollback();
  }
}
