import { Injectable } from '@nestjs/common';
import { LoginLogs } from '../../audit/login-log.repository';
import { Clock } from '../../shared/clock';
import { RecentKeys } from '../../shared/recent-keys';
import { type AdminScope, everyTenant, usersWithin } from '../admin-scope';

export interface LoginHour {
  readonly from: Date;
  readonly logins: number;
  readonly failures: number;
}

const hours = 24;
const hourMs = 3_600_000;
/** A row gets its time before it is committed, and the clocks of the replicas may differ by a second. */
const settledAfterMs = 60_000;
/** Hours of some hundred tenants. */
const keptHours = 10_000;

/**
 * Logins and failures of the last 24 hours, from the beginning of an hour in UTC. The rows of a past hour do not change,
 * so each process counts them once. A count reads the entries of one index within one hour.
 */
@Injectable()
export class LoginHours {
  private readonly past = new RecentKeys<LoginHour>(2 * keptHours);

  constructor(
    private readonly logs: LoginLogs,
    private readonly clock: Clock,
  ) {}

  /** The oldest hour first. The last one is the current hour. */
  async of(scope: AdminScope): Promise<LoginHour[]> {
    const current = Math.floor(this.clock.now().getTime() / hourMs);
    const found: LoginHour[] = [];
    for (let hour = current - hours + 1; hour <= current; hour++) found.push(await this.hour(hour, scope));
    return found;
  }

  private async hour(hour: number, scope: AdminScope): Promise<LoginHour> {
    const now = this.clock.now().getTime();
    const key = `${hour} ${scope.tenantId === everyTenant ? '' : JSON.stringify(scope.tenantId)}`;
    const known = this.past.get(key);
    if (known !== undefined) return known;
    const [from, to] = [new Date(hour * hourMs), new Date((hour + 1) * hourMs)];
    const counted = { from, ...(await this.logs.count(from, to, usersWithin(scope))) };
    if (now >= to.getTime() + settledAfterMs) this.past.set(key, counted, now, hours * hourMs);
    return counted;
  }
}
