import { Body, Controller, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { CsvBody, TakesCsv, type UnreadFile } from '../../platform/http/csv-body';
import { Marked } from '../../platform/http/route-marks';
import { type LimitedRequest, RateLimited } from '../../platform/limits/rate-limited.decorator';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { LiveSessions } from '../../sessions/live-sessions';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';
import type { Administrator } from '../authority';
import { AdminChange } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { longAnswer } from '../frame/long-answer';
import { Places } from '../frame/places';
import { UserBulk } from '../user-bulk';
import { UserFile } from '../user-file';
import {
  AdminBulkResults,
  AdminImportReport,
  bulkItem,
  BulkUsersDto,
  importReport,
  ImportQuery,
  mostUsers,
} from './user-bulk.dto';

const largestFile = 10 * 1024 * 1024;
/** A uid in quotation marks with a comma has up to 39 characters. A client may put each one on a line of its own. */
const largestBulk = 1024 + mostUsers * 64;

/** One action for many users, and many new users at once (docs/spec/extensions.md#o). */
@ApiTags('admin')
@Controller('admin')
export class AdminUserBulkController {
  private readonly bulkPlaces = new Places(4, 2);
  /** Each import holds its file in memory. */
  private readonly importPlaces = new Places(2, 10);

  constructor(
    private readonly bulk: UserBulk,
    private readonly files: UserFile,
    private readonly sessions: LiveSessions,
  ) {}

  @Marked({ largestBody: largestBulk, besideIds: true })
  @RateLimited(bulkGroup)
  @AdminChange('POST', 'users/bulk', 'users.write', AdminBulkResults)
  @ApiOperation({
    operationId: 'adminBulkUsers',
    summary: 'Do the same for many users, each of which is decided and audited alone',
    description:
      'After 20 seconds the remaining users get COMMON_503001 without being tried: send them again. So do they when the database fails.',
  })
  async many(@Body() body: BulkUsersDto, @Caller() by: Administrator): Promise<AdminBulkResults> {
    const { uids, action, tenant_id: tenantId } = body;
    if ((action === 'move') !== (tenantId !== undefined)) {
      const problem = action === 'move' ? 'tenant_id is required' : 'tenant_id needs the action move';
      throw new DomainError(requestInvalid, { fields: { tenant_id: [problem] } });
    }
    const leave = this.bulkPlaces.enter(by.actor.id);
    try {
      return { results: (await this.bulk.run(by, { uids, action, tenantId })).map(bulkItem) };
    } finally {
      leave();
    }
  }

  @TakesCsv(largestFile)
  @Marked({ besideIds: true })
  @AdminChange('POST', 'users/import', 'users.write', AdminImportReport)
  @ApiOperation({
    operationId: 'adminImportUsers',
    summary: 'Create the users of a CSV file of at most 10 MB and 50,000 rows',
    description:
      'The first line names the columns, as for `user import`. Commas or semicolons separate them. An answer that takes longer than ten seconds begins with spaces. The import ends when the client leaves; the same file can be imported again.',
  })
  async import(
    @Query() { dry_run: dryRun }: ImportQuery,
    @CsvBody() file: UnreadFile,
    @Caller() by: Administrator,
    @Session() session: CurrentSession,
  ): Promise<AdminImportReport | StreamableFile> {
    const leave = this.importPlaces.enter(by.actor.id);
    try {
      const content = await file.read();
      const lines = await this.files.check(content);
      const isAdmitted = async () => (await this.sessions.rightsOf(session))?.isAdmin === true;
      const work = this.files.run(by, content, lines, dryRun === 'true', isAdmitted).then(importReport);
      return await longAnswer(work, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** Invitations are limited like every other mail to an address. Each user has a limit as well, see UserBulk. */
function bulkGroup({ body }: LimitedRequest): 'forgotPassword' | 'other' {
  return (body as Partial<BulkUsersDto> | null | undefined)?.action === 'invite' ? 'forgotPassword' : 'other';
}
