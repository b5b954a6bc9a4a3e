import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { DoneResponse } from '../../platform/http/done-response';
import type { ClientInfo } from '../../shared/client-info';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { accessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { OwnGrants } from '../openid/own-grants';
import { applicationView } from './interactions.dto';
import { GrantsResponse } from './grants.dto';

/** What the user has allowed to the applications of others (docs/spec/extensions.md#j). */
@ApiTags('account')
@Controller('user/grants')
export class GrantsController {
  constructor(private readonly grants: OwnGrants) {}

  @Get()
  @ApiOperation({ operationId: 'listGrants', summary: 'List what you have allowed to applications' })
  @AnswersTo(accessToken, GrantsResponse)
  async list(@Session() session: CurrentSession): Promise<GrantsResponse> {
    const grants = await this.grants.list(session);
    return {
      grants: grants.map(({ id, application, scopes, createdAt }) => ({
        id,
        application: applicationView(application),
        scopes: [...scopes],
        created_at: createdAt.toISOString(),
      })),
    };
  }

  @Delete(':id')
  @ApiParam({ name: 'id', description: 'The `id` of GET /user/grants.', schema: { type: 'string' } })
  @ApiOperation({ operationId: 'endGrant', summary: 'Take back what you have allowed to an application' })
  @AnswersTo(accessToken, DoneResponse, notFoundForCaller)
  async end(
    @Param('id') id: string,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<DoneResponse> {
    await this.grants.end(session, id, client);
    return { result: true };
  }
}
