import { Controller } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { Authority } from '../authority';
import { AdminChange } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { RequestedChecks } from '../requested-checks';
import { ChecksResponse } from './checks.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminChecksController {
  constructor(private readonly checks: RequestedChecks) {}

  @AdminChange('POST', 'checks', 'checks.run', ChecksResponse)
  @ApiOperation({
    operationId: 'adminRunChecks',
    summary: 'Check the connections of the service',
    description:
      'Asks each server that the service uses, as `doctor` does, for at most ten seconds. A replica has one run at a time, and remembers its answer for 30 seconds.',
  })
  async run(@Caller() by: Authority): Promise<ChecksResponse> {
    const { at, findings } = await this.checks.run(by);
    return {
      checked_at: at.toISOString(),
      items: findings.map(({ check, status, text }) => ({ check, status, text })),
    };
  }
}
