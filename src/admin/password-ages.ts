import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PasswordSettings } from '../users/password-settings';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import type { NewUser } from '../users/user-accounts';

const dayMs = 86_400_000;

/** Passwords of created users: how many have no known age, and how many have expired. */
export interface AgeCounts {
  unknown: number;
  expired: number;
}

/**
 * The age of passwords that come from another system. Where it is unknown, the expiries are spread over many days. With one
 * age for all, every user would have to change the password on the same day.
 */
@Injectable()
export class PasswordAges {
  constructor(
    private readonly settings: PasswordSettings,
    private readonly clock: Clock,
  ) {}

  /** The user with the time at which the password was set, so that it is stored and counted. */
  assigned<T extends NewUser>(user: T, counts: AgeCounts): T {
    const { expireDays } = this.settings;
    if (user.passwordHash === null || expireDays === 0) return user;
    const { passwordSetAt } = user;
    if (passwordSetAt === undefined) {
      counts.unknown += 1;
      return { ...user, passwordSetAt: this.spread(user) };
    }
    if (passwordSetAt < this.clock.secondsFromNow((-expireDays * dayMs) / 1000)) counts.expired += 1;
    return user;
  }

  /** Lines for the operator who rehearses an import. @returns undefined when there are none */
  warnings({ unknown, expired }: AgeCounts): readonly string[] | undefined {
    const { expireDays } = this.settings;
    const from = this.clock
      .secondsFromNow((this.noticeDays * dayMs) / 1000)
      .toISOString()
      .slice(0, 10);
    const lines: string[] = [];
    if (unknown > 0) {
      lines.push(
        `${unknown} passwords have no password_set_at: they will expire one after the other, ` +
          `within ${expireDays - this.noticeDays} days from ${from} on`,
      );
    }
    if (expired > 0) {
      lines.push(
        `${expired} passwords are older than PASSWORD_EXPIRE_DAYS (${expireDays}) and must be changed at the next login`,
      );
    }
    return lines.length > 0 ? lines : undefined;
  }

  /** The same place for the same account in each run. No password is older than its account. */
  private spread({ uid, loginName, createdAt }: NewUser): Date {
    const digest = createHash('sha256').update(uid ?? identityKey(loginName));
    const place = digest.digest().readUInt32BE() / 2 ** 32;
    const ageMs = place * (this.settings.expireDays - this.noticeDays) * dayMs;
    return new Date(Math.max(this.clock.now().getTime() - Math.floor(ageMs), createdAt?.getTime() ?? 0));
  }

  /** Each owner gets the first mail about the expiry in time. */
  private get noticeDays(): number {
    const { expireDays, expiryWarnDays } = this.settings;
    return expiryWarnDays.find((days) => days < expireDays) ?? 0;
  }
}
