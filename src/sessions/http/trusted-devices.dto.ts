import { ApiProperty } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';

export class TrustedDeviceDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'date-time', description: 'When a code was entered on the device.' })
  created_at: string;

  @ApiProperty({ format: 'date-time', description: 'The last login without a code, else `created_at`.' })
  last_used_at: string;

  @ApiProperty({ description: 'The IP address of the last use.', example: '203.0.113.7' })
  ip: string;

  @ApiProperty({ description: 'The `User-Agent` of the last use.' })
  user_agent: string;
}

export class TrustedDevicesResponse {
  @ApiProperty({ type: [TrustedDeviceDto], description: 'The last used device first.' })
  devices: TrustedDeviceDto[];
}

export class DeviceRemovedResponse extends DoneResponse {}
