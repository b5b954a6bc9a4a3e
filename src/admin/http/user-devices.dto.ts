import { ApiProperty } from '../../platform/http/api-docs';
import { nextCursor } from '../frame/lists';

export class AdminDeviceItem {
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

export class AdminDevicePage {
  @ApiProperty({ type: [AdminDeviceItem], description: 'The newest first.' })
  items: AdminDeviceItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}
