import { ApiProperty } from '../../platform/http/api-docs';

const count = { type: 'integer', minimum: 0 } as const;

export class UsersByStatus {
  @ApiProperty({ ...count, description: 'Status 1.' })
  enabled: number;

  @ApiProperty({ ...count, description: 'Status 0.' })
  not_enabled: number;

  @ApiProperty({ ...count, description: 'Status -1.' })
  disabled: number;

  @ApiProperty({ ...count, description: 'Status -2, without deleted users.' })
  expired: number;

  @ApiProperty({ ...count, description: 'Rows without personal data that a deletion left.' })
  deleted: number;
}

export class LoginHourItem {
  @ApiProperty({ format: 'date-time', description: 'The beginning of the hour.' })
  from: string;

  @ApiProperty(count)
  logins: number;

  @ApiProperty({ ...count, description: 'Refused logins.' })
  failures: number;
}

export class Backlog {
  @ApiProperty({ ...count, description: 'Not sent yet.' })
  waiting: number;

  @ApiProperty({ ...count, description: 'Given up.' })
  dead: number;
}

export class OverviewResponse {
  @ApiProperty({ type: UsersByStatus })
  users: UsersByStatus;

  @ApiProperty({ ...count, description: 'Users who are locked now after failed logins.' })
  locked: number;

  @ApiProperty({
    type: [LoginHourItem],
    description: '24 hours, the oldest one first. The last one is the current hour.',
  })
  hours: LoginHourItem[];

  @ApiProperty({ type: Backlog, nullable: true, description: 'Null for the administrator of one tenant.' })
  mails: Backlog | null;

  @ApiProperty({ type: Backlog, nullable: true, description: 'Null for the administrator of one tenant.' })
  events: Backlog | null;
}
