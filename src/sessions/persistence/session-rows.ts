import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { Database } from '../../platform/database/database';
import { timeOf, timeOrNull } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';

/** A refresh that finds more rows of its session than this removes the oldest ones. */
export const crowdedRows = 950;
/** The newest rows of a session, which always stay. Together with the first row and the current refresh token, below 1,000. */
export const keptRows = 900;
const batchRows = 1000;

/** SQL that is 1 when the session in the column `sid` is crowded. It reads at most `crowdedRows` entries of one index. */
export const crowded = (sid: string): string =>
  `(SELECT c.created_at FROM login_tokens c WHERE c.sid = ${sid} ORDER BY c.created_at LIMIT 1 OFFSET ${crowdedRows}) IS NOT NULL`;

/** The most sessions of one list: the newest ones. A person has a few. Only a program that never logs out has more. */
const maxListed = 1000;

/** A session as its owner and administrators see it. */
export interface UserSession {
  readonly sid: string;
  readonly createdAt: Date;
  /** The last refresh, or else the login. */
  readonly lastUsedAt: Date;
  /** Null for a session of a version that did not store the client. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Empty for a session of a version that did not store it. */
  readonly amr: readonly string[];
}

type SessionRow = Pick<UserSession, 'sid' | 'ip'> &
  Record<'user_agent' | 'amr', string | null> &
  Record<'created_at' | 'folded' | 'newest', unknown>;

interface Place {
  readonly jti: string;
  readonly created_at: unknown;
}

/**
 * The second file of the table `login_tokens`: plain SQL, because each statement reads or removes many rows in a bounded way.
 * What the many rows of a session tell together, and how many there are. Every refresh inserts an access token, so the
 * newest row tells when the session was last used, and a refresh needs no further write (ADR 0014). A client that never
 * stops would make a session that is too large to be read, so the rows of a session are bounded (ADR 0005).
 */
@Injectable()
export class SessionRows {
  private readonly logger = new Logger('tokens');
  private readonly running = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The sessions of the user that have not ended, the newest first. */
  async list(userId: string, credentialVersion: number): Promise<UserSession[]> {
    const rows = await this.database.rows<SessionRow>(
      `SELECT s.sid, s.created_at, s.ip, s.user_agent, s.amr, s.last_used_at AS folded,
              (SELECT t.created_at FROM login_tokens t WHERE t.sid = s.jti ORDER BY t.created_at DESC LIMIT 1) AS newest
       FROM login_tokens s
       WHERE s.user_identity = ? AND s.token_type = 'refresh' AND s.jti = s.sid AND s.is_revoked = 0 AND s.expires > ?
         AND s.credential_version = ?
       ORDER BY s.created_at DESC, s.jti LIMIT ${maxListed}`,
      [userId, this.clock.now(), credentialVersion],
    );
    const sessions = rows.map((row) => ({
      sid: row.sid,
      createdAt: timeOf(row.created_at),
      lastUsedAt: later(timeOf(row.newest), timeOrNull(row.folded)),
      ip: row.ip,
      userAgent: row.user_agent,
      amr: row.amr?.split(' ') ?? [],
    }));
    // A session that a new authenticator made has the start of the session before it: the one in use comes first.
    return sessions.sort((one, other) => +other.createdAt - +one.createdAt || +other.lastUsedAt - +one.lastUsedAt);
  }

  /**
   * Keeps the time of the last refresh of a session when `purge` deletes the access token that shows it. Call it before
   * the rows are deleted. It writes only for sessions that have not ended and have no newer row, so a session that is in
   * use costs nothing. Race: a second purge, and a refresh between the statements. The UPDATE never sets an earlier time,
   * and a newer row counts anyway (`list`).
   */
  async keepUses(jtis: readonly string[]): Promise<void> {
    const rows = await this.database.rows<{ sid: string; used: unknown }>(
      `SELECT DISTINCT t.sid, t.created_at AS used FROM login_tokens t JOIN login_tokens s ON s.jti = t.sid
       WHERE t.jti IN (${places(jtis)}) AND s.is_revoked = 0 AND s.expires > ? AND t.created_at > s.created_at
         AND NOT EXISTS (SELECT 1 FROM login_tokens n WHERE n.sid = t.sid AND n.created_at > t.created_at)`,
      [...jtis, this.clock.now()],
    );
    if (rows.length === 0) return;
    const sids = rows.map(({ sid }) => sid);
    const used = `CASE jti ${rows.map(() => 'WHEN ? THEN ?').join(' ')} END`;
    const uses = rows.flatMap((row) => [row.sid, timeOf(row.used)]);
    await this.database.affected(
      `UPDATE login_tokens SET last_used_at = ${used}
       WHERE jti IN (${places(sids)}) AND COALESCE(last_used_at, created_at) < ${used}`,
      [...uses, ...sids, ...uses],
    );
  }

  /** Trims in the background. The answer of the refresh does not wait, and a failure is left to the next refresh. */
  trimLater(sid: string): void {
    if (this.running.has(sid)) return;
    this.running.add(sid);
    this.trim(sid)
      .catch((error: unknown) => this.logger.warn({ err: error, sid }, 'the rows of a session were not trimmed'))
      .finally(() => this.running.delete(sid));
  }

  /**
   * Deletes the oldest rows, in batches that each commit alone. The first row, which decides about the session, stays,
   * and so does the refresh token without a successor.
   *
   * Races with refreshes and with a second replica that trims. The newest row that goes is read once. A row that is
   * inserted later is newer and stays, so two replicas together delete no more than one. Races with the end of the
   * session: its statements and this one lock the rows in the order of their key, but for the first row, which the end locks before
   * all others. So the DELETE must not name that row: it would lock it to look at it, and wait while it holds others.
   * @returns the number of deleted rows
   */
  async trim(sid: string): Promise<number> {
    const newest = await this.database.row<Place>(
      `SELECT jti, created_at FROM login_tokens WHERE sid = ? ORDER BY created_at DESC, jti DESC LIMIT 1 OFFSET ${keptRows}`,
      [sid],
    );
    if (newest === undefined) return 0;
    const last = [timeOf(newest.created_at), timeOf(newest.created_at), newest.jti] as const;
    let removed = 0;
    // Continues after the last batch: the start of the index still holds its delete marks.
    for (let from: Place = { jti: '', created_at: new Date(0) }; ;) {
      const after = [timeOf(from.created_at), timeOf(from.created_at), from.jti] as const;
      const rows = await this.database.rows<Place>(
        `SELECT jti, created_at FROM login_tokens
         WHERE sid = ? AND jti <> sid AND (created_at > ? OR (created_at = ? AND jti > ?))
           AND (created_at < ? OR (created_at = ? AND jti <= ?))
         ORDER BY created_at, jti LIMIT ${batchRows}`,
        [sid, ...after, ...last],
      );
      if (rows.length > 0) removed += await this.remove(rows.map(({ jti }) => jti));
      const end = rows.at(-1);
      if (end === undefined || rows.length < batchRows) return removed;
      from = end;
    }
  }

  private remove(jtis: readonly string[]): Promise<number> {
    const keys = filledUp(jtis);
    return this.database.affected(
      `DELETE FROM login_tokens WHERE jti IN (${places(keys)})
         AND jti <> sid AND (token_type = 'access' OR successor_jti IS NOT NULL)`,
      keys,
    );
  }
}

const places = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

function later(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}
