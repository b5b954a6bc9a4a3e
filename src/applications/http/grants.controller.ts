import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import type { ClientInfo } from '../../shared/client-info';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { accessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { OwnGrants } from '../own-grants';
import { GrantEndedResponse, grantItem, GrantsResponse } from './grants.dto';

/** What the logged-in user has allowed to third parties (docs/spec/extensions.md#j). */
@ApiTags('account')
@Controller('user/grants')
export class GrantsController {
  constructor(private readonly grants: OwnGrants) {}

  @Get()
  @ApiOperation({ operationId: 'listGrants', summary: 'List what you have allowed to applications of third parties' })
  @AnswersTo(accessToken, GrantsResponse)
  async list(@Session() session: CurrentSession): Promise<GrantsResponse> {
    return { grants: (await this.grants.list(session)).map(grantItem) };
  }

  @Delete(':id')
  @ApiParam({ name: 'id', description: 'The `id` of GET /user/grants.', schema: { type: 'string' } })
  @ApiOperation({ operationId: 'endGrant', summary: 'Take back what you have allowed to an application' })
  @AnswersTo(accessToken, GrantEndedResponse, notFoundForCaller)
  async end(
    @Param('id') id: string,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<GrantEndedResponse> {
    await this.grants.end(session, id, client);
    return { result: true };
  }
}
