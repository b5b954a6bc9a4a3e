import { ApiProperty } from '../platform/http/api-docs';
import type { TrustedDevice } from './trusted-devices';

/** A trusted device, as its owner and administrators see it. */
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

export const trustedDeviceView = ({ id, createdAt, lastUsedAt, ip, userAgent }: TrustedDevice): TrustedDeviceDto => ({
  id,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt.toISOString(),
  ip,
  user_agent: userAgent,
});
