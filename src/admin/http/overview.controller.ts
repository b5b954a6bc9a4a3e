import { Controller } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { Authority } from '../authority';
import { AdminGet } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { type Backlog as OverviewBacklog, OverviewReadings } from '../overview/overview';
import { auditLogItem } from './log-items';
import { type Backlog, OverviewResponse } from './overview.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminOverviewController {
  constructor(private readonly readings: OverviewReadings) {}

  @AlsoFor('auditor')
  @AdminGet('overview', 'overview.read', OverviewResponse)
  @ApiOperation({
    operationId: 'adminOverview',
    summary: 'Users, logins, mails and events in numbers',
    description: 'The numbers are up to ten seconds old.',
  })
  async overview(@Caller() { scope }: Authority): Promise<OverviewResponse> {
    const { users, hours, mails, events, endingSecrets, failing, ...others } = await this.readings.of(scope);
    const { adoption, changes, names, clock, eventReceivers } = others;
    const { enabled, notEnabled, disabled, expired, deleted, locked } = users;
    return {
      users: { enabled, not_enabled: notEnabled, disabled, expired, deleted },
      locked,
      hours: hours.map(({ from, logins, failures }) => ({ from: from.toISOString(), logins, failures })),
      mails: mails && backlogOf(mails),
      events: events && backlogOf(events),
      event_receivers: eventReceivers && { ...eventReceivers, failing: [...eventReceivers.failing] },
      ending_secrets:
        endingSecrets?.map(({ id, name, expires }) => ({ id, name, client_secret_expires: expires.toISOString() })) ??
        null,
      adoption,
      failing: {
        of: failing.of,
        names: failing.names.map(({ loginName, userId, failures }) => ({
          ...{ login_name: loginName, user_id: userId, failures },
        })),
        addresses: failing.addresses.map(({ ip, failures, names: tried }) => ({ ip, failures, names: tried })),
      },
      changes: changes.map((row) => auditLogItem(row, names)),
      clock: clock === 'far off' ? 'far_off' : clock,
    };
  }
}

const backlogOf = ({ waiting, dead, oldestSeconds }: OverviewBacklog): Backlog => ({
  ...{ waiting, dead, oldest_seconds: oldestSeconds },
});
