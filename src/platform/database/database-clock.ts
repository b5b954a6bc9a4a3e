import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { AppConfig } from '../config/app-config';
import { Database } from './database';
import { timeOf } from './sql';

/** Above this, expiries written by one replica and judged by another are no longer what the settings say. */
export const toleratedOffsetMs = 1000;
const lookEveryMs = 60_000;

/** How far the application's clock, the only one that decides, is from the database's (decisions.md 1). */
@Injectable()
export class DatabaseClock {
  private readonly logger = new Logger('database');
  private lastLook = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Milliseconds that the database is ahead, less what the way there and back may explain. @throws DomainError COMMON_503001 */
  async offsetMs(): Promise<number> {
    // SQLite has the clock of this machine.
    if (this.config.database.url.startsWith('sqlite:')) return 0;
    const asked = this.clock.now().getTime();
    const row = await this.database.row<{ now: unknown }>('SELECT UTC_TIMESTAMP(3) AS now');
    const answered = this.clock.now().getTime();
    const offset = timeOf(row?.now).getTime() - (asked + answered) / 2;
    return Math.sign(offset) * Math.max(0, Math.abs(offset) - (answered - asked) / 2);
  }

  /** For readiness, which is asked every few seconds: looks once a minute, and warns. Never throws. */
  async warnWhenOff(): Promise<void> {
    const now = performance.now();
    if (now - this.lastLook < lookEveryMs) return;
    this.lastLook = now;
    const offset = await this.offsetMs().catch(() => 0);
    if (Math.abs(offset) > toleratedOffsetMs) {
      this.logger.warn({ offsetMs: Math.round(offset) }, "the clock is off from the database's");
    }
  }
}
