import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { Database } from '../platform/database/database';
import { timeOf } from '../platform/database/sql';

/** Keeps the time of the last refresh of a session when `purge` deletes the access token that shows it. */
@Injectable()
export class SessionUses {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Call it before the rows are deleted. It writes only for sessions that have not ended and have no newer row, so a
   * session that is in use costs nothing. Race: a second purge, and a refresh between the statements. The UPDATE never
   * sets an earlier time, and a newer row counts anyway (UserSessions).
   */
  async keep(jtis: readonly string[]): Promise<void> {
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
}

function places(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
