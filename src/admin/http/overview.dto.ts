import { ApiProperty } from '../../platform/http/api-docs';
import { AuditLogItem } from './logs.dto';

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

  @ApiProperty({ ...count, description: 'Seconds that the oldest waiting one has waited.' })
  oldest_seconds: number;
}

export class ReceiversBacklog {
  @ApiProperty(count)
  total: number;

  @ApiProperty(count)
  paused: number;

  @ApiProperty({ type: [String], example: ['siem'], description: 'Those that have failed for 15 minutes.' })
  failing: string[];
}

export class EndingSecretItem {
  @ApiProperty({ example: 'entra', description: 'The `id` of GET /admin/identity-providers.' })
  id: string;

  @ApiProperty({ example: 'Entra ID' })
  name: string;

  @ApiProperty({ format: 'date-time' })
  client_secret_expires: string;
}

export class AdoptionItem {
  @ApiProperty({ ...count, description: 'The enabled users who were looked at.' })
  users: number;

  @ApiProperty({ ...count, description: 'Users with an authenticator.' })
  authenticator: number;

  @ApiProperty({ ...count, description: 'Users with a passkey.' })
  passkey: number;

  @ApiProperty({ ...count, description: 'Users without both.' })
  neither: number;

  @ApiProperty({ description: 'Whether there are more users, and these are a sample of them.' })
  sampled: boolean;
}

export class FailingNameItem {
  @ApiProperty({ example: 'alice', description: 'As it was typed last.' })
  login_name: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null when no user has the login name.' })
  user_id: string | null;

  @ApiProperty(count)
  failures: number;
}

export class FailingAddressItem {
  @ApiProperty({ example: '203.0.113.7' })
  ip: string;

  @ApiProperty(count)
  failures: number;

  @ApiProperty({ ...count, description: 'The different names that were tried.' })
  names: number;
}

export class FailingItem {
  @ApiProperty({ ...count, description: 'The newest refused logins of 24 hours that were looked at.' })
  of: number;

  @ApiProperty({ type: [FailingNameItem], description: 'The names with the most failures, from three on.' })
  names: FailingNameItem[];

  @ApiProperty({ type: [FailingAddressItem], description: 'The addresses with the most failures, from three on.' })
  addresses: FailingAddressItem[];
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

  @ApiProperty({
    type: ReceiversBacklog,
    nullable: true,
    description: 'Null for the administrator of one tenant, and with `EVENT_RECEIVERS=off`.',
  })
  event_receivers: ReceiversBacklog | null;

  @ApiProperty({
    type: [EndingSecretItem],
    nullable: true,
    description:
      'The enabled identity providers whose secret ends within 30 days, or has ended. Null for the administrator of one tenant.',
  })
  ending_secrets: EndingSecretItem[] | null;

  @ApiProperty({ type: AdoptionItem })
  adoption: AdoptionItem;

  @ApiProperty({ type: FailingItem })
  failing: FailingItem;

  @ApiProperty({ type: [AuditLogItem], description: 'The newest changes by administrators and operators.' })
  changes: AuditLogItem[];

  @ApiProperty({
    ...{ type: 'string', enum: ['ok', 'off', 'far_off'], nullable: true },
    description: "Whether the clock agrees with the database's. Null for the administrator of one tenant.",
  })
  clock: 'ok' | 'off' | 'far_off' | null;
}
