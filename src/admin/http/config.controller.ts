import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';
import { isPlainAddress } from '../../shared/mail-address';
import type { Authority } from '../authority';
import { Configuration } from '../configuration';
import { AdminChange, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { assertKnown, isSecret, knownSettings } from '../known-settings';
import { Mails } from '../mails';
import { ConfigItem, ConfigPage, ConfigQuery, ConfigValueDto, SmtpTestDto, SmtpTestResponse } from './config.dto';
import { refused } from './refusals';
import { AdminResult } from './users.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminConfigController {
  constructor(
    private readonly configuration: Configuration,
    private readonly mails: Mails,
  ) {}

  @AlsoFor('auditor')
  @AdminList('config', 'config.read', ConfigPage)
  @ApiOperation({ operationId: 'adminListConfig', summary: 'The settings', description: streamNote })
  list(
    @Query() query: ConfigQuery,
    @Streamed() streamed: Reader | undefined,
  ): Promise<Page<ConfigItem> | StreamableFile> {
    return listed(query, streamed, [], async () => {
      const stored = await this.configuration.list();
      const items = knownSettings.map(({ group, key }) => {
        const setting = stored.find((one) => one.group === group && one.key === key);
        return { group, key, value: setting?.value ?? null, secret: isSecret(group, key), set: setting !== undefined };
      });
      return { items, next: null };
    });
  }

  @AdminChange('POST', 'config/smtp-test', 'config.write', SmtpTestResponse)
  @ApiOperation({
    operationId: 'adminTestSmtp',
    summary: 'Send a test mail with the stored settings',
    description: 'Answers after at most 15 seconds.',
  })
  async test(@Body() { to }: SmtpTestDto, @Caller() by: Authority): Promise<SmtpTestResponse> {
    if (!isPlainAddress(to)) throw new DomainError(requestInvalid, { fields: { to: ['to must be one address'] } });
    const result = await this.mails.sendTest(by, to);
    return result.sent ? { result: true } : { result: false, reply: result.reply };
  }

  @AdminChange('PUT', 'config/:group/:key', 'config.write', AdminResult)
  @ApiOperation({
    operationId: 'adminSetConfig',
    summary: 'Change a setting',
    description:
      'Takes effect within a second. Another `SMTP HOST` or `SMTP PORT`, or a weaker `SMTP TLS`, removes `SMTP SECRET`, so ' +
      'set the secret last: a password is never sent to a server for which it was not given, or in clear text.',
  })
  async set(
    @Param('group') group: string,
    @Param('key') key: string,
    @Body() { value }: ConfigValueDto,
    @Caller() by: Authority,
  ): Promise<AdminResult> {
    await this.configuration.set(by, { group, key }, value).catch(refused);
    return { result: true };
  }

  @AdminChange('DELETE', 'config/:group/:key', 'config.write', AdminResult)
  @ApiOperation({
    operationId: 'adminUnsetConfig',
    summary: 'Remove a setting',
    description:
      'Also succeeds when it is not set. The removal of `SMTP HOST`, `PORT` or `TLS` removes `SMTP SECRET` too.',
  })
  async unset(@Param('group') group: string, @Param('key') key: string, @Caller() by: Authority): Promise<AdminResult> {
    try {
      assertKnown(group, key);
      await this.configuration.unset(by, { group, key });
    } catch (error) {
      refused(error);
    }
    return { result: true };
  }
}
