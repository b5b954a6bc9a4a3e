import { ApiProperty } from '../../platform/http/api-docs';
import type { Health } from '../connection-checks';

export class CheckItem {
  @ApiProperty({ example: 'smtp', description: 'As `doctor` calls it.' })
  check: string;

  @ApiProperty({
    enum: ['ok', 'warn', 'skipped', 'problem'],
    description: '`warn`: somebody should look. `skipped`: not configured.',
  })
  status: Health;

  @ApiProperty({
    example: 'the server (starttls) answers',
    description: 'One line, without a secret and without addresses of the inner network.',
  })
  text: string;
}

export class ChecksResponse {
  @ApiProperty({ format: 'date-time', description: 'When the checks began: up to 30 seconds before the request.' })
  checked_at: string;

  @ApiProperty({ type: [CheckItem] })
  items: CheckItem[];
}
