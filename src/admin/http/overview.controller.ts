import { Controller } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { Authority } from '../authority';
import { AdminGet } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { OverviewReadings } from '../overview/overview';
import { OverviewResponse } from './overview.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminOverviewController {
  constructor(private readonly readings: OverviewReadings) {}

  @AdminGet('overview', 'overview.read', OverviewResponse)
  @ApiOperation({
    operationId: 'adminOverview',
    summary: 'Users, logins, mails and events in numbers',
    description: 'The numbers are up to ten seconds old.',
  })
  async overview(@Caller() { scope }: Authority): Promise<OverviewResponse> {
    const { users, hours, mails, events } = await this.readings.of(scope);
    const { enabled, notEnabled, disabled, expired, deleted, locked } = users;
    return {
      users: { enabled, not_enabled: notEnabled, disabled, expired, deleted },
      locked,
      hours: hours.map(({ from, logins, failures }) => ({ from: from.toISOString(), logins, failures })),
      mails,
      events,
    };
  }
}
