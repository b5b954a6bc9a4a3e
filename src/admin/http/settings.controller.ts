import { Controller } from '@nestjs/common';
import { EffectiveSettings } from '../../platform/config/effective-settings';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { Configuration } from '../configuration';
import { AdminGet } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { isSecret, knownSettings } from '../known-settings';
import { type SettingItem, SettingsResponse } from './settings.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminSettingsController {
  constructor(
    private readonly configuration: Configuration,
    private readonly effective: EffectiveSettings,
  ) {}

  @AlsoFor('auditor')
  @AdminGet('settings', 'config.read', SettingsResponse)
  @ApiOperation({
    operationId: 'adminSettings',
    summary: 'Every setting and where its value comes from',
    description: 'As the replica that answers has read them at its start. Secrets are `set` or not.',
  })
  async settings(): Promise<SettingsResponse> {
    const variables = this.effective.rows.map((row) => ({ ...row, editable: false }));
    return { items: [...(await this.stored()), ...variables] };
  }

  private async stored(): Promise<SettingItem[]> {
    const rows = await this.configuration.list();
    return knownSettings.map(({ group, key }) => {
      const row = rows.find((one) => one.group === group && one.key === key);
      return {
        ...{
          key: `${group} ${key}`,
          source: row === undefined ? 'default' : 'system_configs',
          value: row?.value ?? null,
        },
        ...{ secret: isSecret(group, key), set: row !== undefined, editable: true },
        documented: 'docs/operations/administration.md#config',
      };
    });
  }
}
