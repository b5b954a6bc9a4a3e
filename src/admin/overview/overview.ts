import { Injectable } from '@nestjs/common';
import type { LogRow } from '../../audit/log-search';
import { EventOutbox } from '../../events/event-outbox';
import { ReceiverHealth } from '../../events/receiver-health';
import { OfferedProviders } from '../../identity-providers/offered-providers';
import { secretDaysLeft, secretWarningDays } from '../../identity-providers/secret-end';
import { MailOutbox } from '../../mail/mail-outbox';
import { Clock } from '../../shared/clock';
import { RecentKeys } from '../../shared/recent-keys';
import { SharedReading } from '../../shared/shared-reading';
import { DatabaseClock, type ClockState } from '../../platform/database/database-clock';
import { type Adoption, FactorAdoption } from '../../users/factor-adoption';
import { UserCounts, type UserTotals } from '../../users/user-counts';
import { type AdminScope, everyTenant } from '../admin-scope';
import { Logs } from '../logs';
import { type Failing, failingIn } from './failing';
import { type LoginHour, LoginHours } from './login-hours';

export interface Backlog {
  readonly waiting: number;
  readonly dead: number;
  /** How long the oldest one has waited. */
  readonly oldestSeconds: number;
}

export interface Overview {
  readonly users: UserTotals;
  readonly hours: readonly LoginHour[];
  /** Null for the administrator of one tenant: mails and events belong to no tenant. */
  readonly mails: Backlog | null;
  readonly events: Backlog | null;
  /** Null without `EVENT_RECEIVERS=on` as well. */
  readonly eventReceivers: OverviewReceivers | null;
  /** The enabled identity providers whose secret ends within 30 days, or has ended. Null for the administrator of one tenant. */
  readonly endingSecrets: readonly EndingSecret[] | null;
  readonly adoption: Adoption;
  readonly failing: Failing;
  /** The newest rows of the audit in which somebody acted, and the names in them. */
  readonly changes: readonly LogRow[];
  readonly names: ReadonlyMap<string, string>;
  /** Whether the clock agrees with that of the database. Null for the administrator of one tenant. */
  readonly clock: ClockState | null;
}

/** The further receivers of events. */
export interface OverviewReceivers {
  readonly total: number;
  readonly paused: number;
  /** The ids of those that have failed for 15 minutes. */
  readonly failing: readonly string[];
}

interface EndingSecret {
  readonly id: string;
  readonly name: string;
  readonly expires: Date;
}

/** All administrators who look at a tenant share one reading of it for this time. */
export const freshForMs = 10_000;
const shownChanges = 6;
const dayMs = 86_400_000;
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
    private readonly receivers: ReceiverHealth,
    private readonly offered: OfferedProviders,
    private readonly factors: FactorAdoption,
    private readonly logs: Logs,
    private readonly databaseClock: DatabaseClock,
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
    const tenantId = all ? undefined : scope.tenantId;
    const since = new Date(this.clock.now().getTime() - dayMs);
    const changes = await this.logs.lastChanges(scope, shownChanges);
    return {
      users: await this.users.of(tenantId),
      hours: await this.logins.of(scope),
      mails: all ? await this.mails() : null,
      events: all ? await this.waitingEvents() : null,
      eventReceivers: all && this.receivers.isOn ? await this.receiverStates() : null,
      endingSecrets: all ? await this.secrets() : null,
      adoption: await this.factors.of(tenantId),
      failing: failingIn(await this.logs.guessesSince(since, scope)),
      changes,
      names: await this.logs.namesIn(changes, scope),
      clock: all ? await this.databaseClock.look() : null,
    };
  }

  private async waitingEvents(): Promise<Backlog> {
    const { waiting = 0, dead = 0, oldestWaitingSeconds = 0 } = (await this.events.figures()) ?? {};
    return { waiting, dead, oldestSeconds: Math.round(oldestWaitingSeconds) };
  }

  private async receiverStates(): Promise<OverviewReceivers> {
    const { total, paused, failing } = await this.receivers.figures();
    return { total, paused, failing: failing.map(({ id }) => id) };
  }

  private async secrets(): Promise<EndingSecret[]> {
    const now = this.clock.now();
    return (await this.offered.all()).flatMap(({ id, name, clientSecretExpires: expires }) =>
      expires !== null && secretDaysLeft(expires, now) <= secretWarningDays ? [{ id, name, expires }] : [],
    );
  }

  private async mails(): Promise<Backlog> {
    const { pending, dead, oldestPendingSeconds } = await this.outbox.outboxStats();
    return { waiting: pending, dead, oldestSeconds: Math.round(oldestPendingSeconds) };
  }
}
