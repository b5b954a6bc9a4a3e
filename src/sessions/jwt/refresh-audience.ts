import { Injectable } from '@nestjs/common';
import { Cooldowns } from '../../platform/database/cooldown.repository';
import type { Sql } from '../../platform/database/sql';
import { Clock } from '../../shared/clock';
import { JwtSettings } from '../jwt-settings';

/** The row that the migration `RefreshTokenAudience1767600000000` writes. `purge` keeps it, as it keeps those of users. */
const upgrade = { kind: 'tokens', subject: '00000000-0000-0000-0000-000000000000' } as const;

/**
 * The claim `aud` of new refresh tokens (docs/spec/extensions.md#stock-check). Version 1.0.0 refuses a refresh token that is
 * for the issuer. Where it may still run, or come back by a roll-back, such a token would end the session. So after an
 * upgrade from it, refresh tokens keep the former audience for seven days (docs/operations/upgrade.md#refresh-tokens).
 */
@Injectable()
export class RefreshAudience {
  private formerUntil: Date | undefined;

  constructor(
    private readonly cooldowns: Cooldowns,
    private readonly clock: Clock,
    private readonly settings: JwtSettings,
  ) {}

  /** @param sql the transaction of the caller. Each process reads the row once. */
  async current(sql: Sql): Promise<string> {
    const { audience, refreshAudience, refreshTokensFor } = this.settings;
    if (refreshTokensFor !== 'auto') return refreshTokensFor === 'issuer' ? refreshAudience : audience;
    this.formerUntil ??= await this.cooldowns.endOf(upgrade, sql);
    // Without the row the migration has not run, so replicas of version 1.0.0 serve this database.
    return this.formerUntil !== undefined && this.formerUntil <= this.clock.now() ? refreshAudience : audience;
  }
}
