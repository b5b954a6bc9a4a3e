import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { DatabaseSettings } from '../config/database-settings';
import { Database } from './database';
import { timeOf } from './sql';

/** Above this offset, an expiry that one replica writes and another one checks differs from what the settings say. */
export const warnedOffsetMs = 5000;
/** Above this offset, codes and tokens of this replica are wrong for the others: it takes no requests. */
export const refusedOffsetMs = 60_000;
const lookEveryMs = 10_000;

export type ClockState = 'ok' | 'off' | 'far off';

export function clockState(offsetMs: number): ClockState {
  const off = Math.abs(offsetMs);
  return off > refusedOffsetMs ? 'far off' : off > warnedOffsetMs ? 'off' : 'ok';
}

/**
 * Compares the clock of the application with that of the database. Only the clock of the application decides anything
 * (docs/spec/decisions.md#1).
 */
@Injectable()
export class DatabaseClock {
  private readonly logger = new Logger('database');
  private lastLook = Number.NEGATIVE_INFINITY;
  private state: ClockState = 'ok';

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: DatabaseSettings,
  ) {}

  /**
   * Milliseconds by which the database is ahead. The time of the round trip is allowed for.
   * @throws DomainError COMMON_503001
   */
  async offsetMs(): Promise<number> {
    // SQLite uses the clock of this machine.
    if (this.settings.url.startsWith('sqlite:')) return 0;
    const asked = this.clock.now().getTime();
    const row = await this.database.row<{ now: unknown }>('SELECT UTC_TIMESTAMP(3) AS now');
    const answered = this.clock.now().getTime();
    const offset = timeOf(row?.now).getTime() - (asked + answered) / 2;
    return Math.sign(offset) * Math.max(0, Math.abs(offset) - (answered - asked) / 2);
  }

  /**
   * For readiness: compares every ten seconds, and each time while the clock is far off. Logs each change once. Never
   * throws: a database that does not answer is the finding of another check.
   */
  async look(): Promise<ClockState> {
    const now = performance.now();
    if (this.state !== 'far off' && now - this.lastLook < lookEveryMs) return this.state;
    this.lastLook = now;
    const offset = await this.offsetMs().catch(() => undefined);
    if (offset !== undefined) this.logChange(clockState(offset), Math.round(offset));
    return this.state;
  }

  private logChange(state: ClockState, offsetMs: number): void {
    const before = this.state;
    this.state = state;
    if (state === before) return;
    if (state === 'ok') this.logger.log({ offsetMs }, 'the clock agrees with that of the database again');
    if (state === 'off') this.logger.warn({ offsetMs }, 'the clock is off: it differs from that of the database');
    if (state === 'far off') {
      const text =
        'the clock is off: it differs from that of the database by more than a minute; not ready until it agrees';
      this.logger.error({ offsetMs }, text);
    }
  }
}
