import { ApiProperty } from '../../platform/http/api-docs';

export class RecoveryCodesResponse {
  @ApiProperty({
    type: [String],
    description: 'Ten codes, shown only in this answer. Each can be used once. Earlier codes no longer work.',
    example: ['7k2pq-m0v4d', 'x9h3t-5zrca'],
  })
  codes: string[];
}

export class RecoveryCodeSummaryResponse {
  @ApiProperty({ type: 'integer', description: 'How many codes are left.', example: 9 })
  left: number;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When the codes were made. Null when the user has none.',
  })
  created_at: string | null;
}
