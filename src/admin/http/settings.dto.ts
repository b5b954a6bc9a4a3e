import { ApiProperty } from '../../platform/http/api-docs';

export const settingSources = ['environment', 'file', 'default', 'system_configs'] as const;
export type SettingSource = (typeof settingSources)[number];

export class SettingItem {
  @ApiProperty({
    example: 'MAX_LOCK_COUNT',
    description: 'The name of the variable, or the group and the key of `system_configs`: `SMTP HOST`.',
  })
  key: string;

  @ApiProperty({
    enum: settingSources,
    description: '`file`: the file that `NAME_FILE` names. `system_configs`: changed with PUT /admin/config.',
  })
  source: SettingSource;

  @ApiProperty({
    ...{ type: 'string', nullable: true, example: '3' },
    description: 'Null for a secret, and where there is no value. A change of a variable needs a restart.',
  })
  value: string | null;

  @ApiProperty({ description: 'The value is never shown.' })
  secret: boolean;

  @ApiProperty({ description: 'Whether somebody has set it.' })
  set: boolean;

  @ApiProperty({ description: 'Whether PUT /admin/config changes it.' })
  editable: boolean;

  @ApiProperty({ example: 'docs/settings.md#login-and-passwords', description: 'Where it is documented.' })
  documented: string;
}

export class SettingsResponse {
  @ApiProperty({
    type: [SettingItem],
    description: 'Those of `system_configs` first, then the variables in the order of their names.',
  })
  items: SettingItem[];
}
