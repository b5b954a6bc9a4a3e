import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { definedOf } from '../../applications/application-rules';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller, requestInvalid } from '../../shared/errors/error-catalogue';
import { applicationView } from '../application-views';
import { ApplicationAdministration } from '../application-administration';
import { ApplicationClaims } from '../application-claims';
import type { Authority } from '../authority';
import { AdminChange, AdminGet, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, newestFirst, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import {
  ApplicationClaimsResponse,
  ApplicationItem,
  ApplicationPage,
  ApplicationsQuery,
  ApplicationWithSecret,
  ChangeApplicationDto,
  CreateApplicationDto,
  RotateSecretDto,
} from './applications.dto';
import { refused } from './refusals';

/** The applications whose users sign in here (docs/spec/extensions.md#j). */
@ApiTags('admin')
@Controller('admin')
export class AdminApplicationsController {
  constructor(
    private readonly applications: ApplicationAdministration,
    private readonly claims: ApplicationClaims,
  ) {}

  @AlsoFor('auditor')
  @AdminList('applications', 'applications.read', ApplicationPage)
  @ApiOperation({ operationId: 'adminListApplications', summary: 'The applications', description: streamNote })
  async list(
    @Query() query: ApplicationsQuery,
    @Streamed() streamed: Reader | undefined,
  ): Promise<Page<ApplicationItem> | StreamableFile> {
    const rows = await this.applications.list();
    const read = newestFirst(rows, ({ createdAt, id }) => [createdAt.getTime(), id], applicationView);
    return listed(query, streamed, ['time', 'string'], read);
  }

  @AdminChange('POST', 'applications', 'applications.write', ApplicationWithSecret)
  @ApiOperation({ operationId: 'adminCreateApplication', summary: 'Register an application' })
  async create(@Body() body: CreateApplicationDto, @Caller() by: Authority): Promise<ApplicationWithSecret> {
    const { type, ...fields } = body;
    const { application, secret } = await this.applications.create(by, type, fields).catch(refused);
    return { ...applicationView(application), client_secret: secret };
  }

  @AlsoFor('auditor')
  @AdminGet('applications/:id', 'applications.read', ApplicationItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminGetApplication', summary: 'One application, without its secret' })
  async one(@Param('id') id: string): Promise<ApplicationItem> {
    return applicationView(await this.applications.get(id).catch(refused));
  }

  @AlsoFor('auditor')
  @AdminGet(
    'applications/:id/claims',
    'applications.read',
    ApplicationClaimsResponse,
    requestInvalid,
    notFoundForCaller,
  )
  @ApiOperation({
    operationId: 'adminPreviewApplicationClaims',
    summary: 'What an application would learn about you',
    description: 'Computed for your own account and session. Nobody signs in. COMMON_400001 for `service`.',
  })
  async preview(@Param('id') id: string, @Session() session: CurrentSession): Promise<ApplicationClaimsResponse> {
    return this.claims.of(id, session).catch(refused);
  }

  @AdminChange('PATCH', 'applications/:id', 'applications.write', ApplicationItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminChangeApplication', summary: 'Change the given fields of an application' })
  async change(
    @Param('id') id: string,
    @Body() body: ChangeApplicationDto,
    @Caller() by: Authority,
  ): Promise<ApplicationItem> {
    if (Object.keys(definedOf(body)).length === 0) {
      throw new DomainError(requestInvalid, { fields: { body: ['body names no field'] } });
    }
    return applicationView(await this.applications.change(by, id, body).catch(refused));
  }

  @AdminChange('DELETE', 'applications/:id', 'applications.write', DoneResponse, notFoundForCaller)
  @ApiOperation({ operationId: 'adminDeleteApplication', summary: 'Delete an application, whose tokens then end' })
  async remove(@Param('id') id: string, @Caller() by: Authority): Promise<DoneResponse> {
    await this.applications.remove(by, id).catch(refused);
    return { result: true };
  }

  @AdminChange('POST', 'applications/:id/rotate-secret', 'applications.write', ApplicationWithSecret, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminRotateApplicationSecret',
    summary: 'Give an application a new secret',
    description: 'COMMON_400001 for `spa` and `native`, and with `keep_old_seconds` while an earlier secret is kept.',
  })
  async rotateSecret(
    @Param('id') id: string,
    @Body() { keep_old_seconds: keep = 0 }: RotateSecretDto,
    @Caller() by: Authority,
  ): Promise<ApplicationWithSecret> {
    const { application, secret } = await this.applications.rotateSecret(by, id, keep).catch(refused);
    return { ...applicationView(application), client_secret: secret };
  }
}
