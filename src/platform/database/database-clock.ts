import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { AppConfig } from '../config/app-config';
import { Database } from './database';
import { timeOf } from './sql';

/** Above this offset, an expiry that one replica writes and another one checks differs from what the settings say. */
export const toleratedOffsetMs = 1000;
const lookEveryMs = 60_000;

/**
 * Compares the clock of the application with that of the database. Only the clock of the application decides anything
 * (docs/spec/decisions.md#1).
 */
@Injectable()
export class DatabaseClock {
  private readonly logger = new Logger('database');
  private lastLook = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Milliseconds by which the database is ahead. The time of the round trip is allowed for.
   * @throws DomainError COMMON_503001
   */
  async offsetMs(): Promise<number> {
    // SQLite uses the clock of this machine.
    if (this.config.database.url.startsWith('sqlite:')) return 0;
    const asked = this.clock.now().getTime();
    const row = await this.database.row<{ now: unknown }>('SELECT UTC_TIMESTAMP(3) AS now');
    const answered = this.clock.now().getTime();
    const offset = timeOf(row?.now).getTime() - (asked + answered) / 2;
    return Math.sign(offset) * Math.max(0, Math.abs(offset) - (answered - asked) / 2);
  }

  /** For readiness, which is requested every few seconds: compares and warns once a minute. Never throws. */
  async warnWhenOff(): Promise<void> {
    const now = performance.now();
    if (now - this.lastLook < lookEveryMs) return;
    this.lastLook = now;
    const offset = await this.offsetMs().catch(() => 0);
    if (Math.abs(offset) > toleratedOffsetMs) {
      this.logger.warn({ offsetMs: Math.round(offset) }, 'the clock is off: it differs from that of the database');
    }
  }
}
