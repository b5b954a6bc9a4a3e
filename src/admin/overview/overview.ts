import { Injectable } from '@nestjs/common';
import { EventOutbox } from '../../events/event-outbox';
import { MailOutbox } from '../../mail/mail-outbox';
import { Clock } from '../../shared/clock';
import { RecentKeys } from '../../shared/recent-keys';
import { SharedReading } from '../../shared/shared-reading';
import { UserCounts, type UserTotals } from '../../users/user-counts';
import { type AdminScope, everyTenant } from '../admin-scope';
import { type LoginHour, LoginHours } from './login-hours';

interface Backlog {
  readonly waiting: number;
  readonly dead: number;
}

export interface Overview {
  readonly users: UserTotals;
  readonly hours: readonly LoginHour[];
  /** Null for the administrator of one tenant: mails and events belong to no tenant. */
  readonly mails: Backlog | null;
  readonly events: Backlog | null;
}

/** All administrators who look at a tenant share one reading of it for this time. */
export const freshForMs = 10_000;
const keptReadings = 1000;
const readingLifeMs = 3_600_000;

/** The numbers of the first page of the console. A process reads them at most once in ten seconds for each tenant. */
@Injectable()
export class OverviewReadings {
  private readonly readings = new RecentKeys<SharedReading<Overview>>(keptReadings);

  constructor(
    private readonly users: UserCounts,
    private readonly logins: LoginHours,
    private readonly outbox: MailOutbox,
    private readonly events: EventOutbox,
    private readonly clock: Clock,
  ) {}

  of(scope: AdminScope): Promise<Overview> {
    const key = scope.tenantId === everyTenant ? '' : JSON.stringify(scope.tenantId);
    const known = this.readings.get(key);
    if (known !== undefined) return known.value();
    const reading = new SharedReading(
      () => this.read(scope),
      () => true,
      this.clock,
      freshForMs,
    );
    this.readings.set(key, reading, this.clock.now().getTime(), readingLifeMs);
    return reading.value();
  }

  private async read(scope: AdminScope): Promise<Overview> {
    const all = scope.tenantId === everyTenant;
    return {
      users: await this.users.of(all ? undefined : scope.tenantId),
      hours: await this.logins.of(scope),
      mails: all ? await this.mails() : null,
      events: all ? await this.waitingEvents() : null,
    };
  }

  private async waitingEvents(): Promise<Backlog> {
    const { waiting, dead } = (await this.events.figures()) ?? { waiting: 0, dead: 0 };
    return { waiting, dead };
  }

  private async mails(): Promise<Backlog> {
    const { pending, dead } = await this.outbox.outboxStats();
    return { waiting: pending, dead };
  }
}
