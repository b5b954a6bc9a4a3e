import { Body, Controller, Param, Req, type StreamableFile } from '@nestjs/common';
import { withOwnTime } from '../../platform/database/database-waits';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked, lockOut, notFoundForCaller } from '../../shared/errors/error-catalogue';
import type { Authority } from '../authority';
import { AdminChange, AdminFile, AdminGet } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { type ExportRequest, Exports } from '../frame/exports';
import { fileOf, type Reader } from '../frame/lists';
import { UserExport } from '../user-export';
import { UserOffboarding } from '../user-offboarding';
import { offboardingsOf } from '../user-views';
import { AdminOffboardings, OffboardDto } from './offboarding.dto';

/** Somebody leaves, and the receipt of it; somebody asks for the own data (docs/spec/extensions.md#l). */
@ApiTags('admin')
@Controller('admin')
export class AdminOffboardingController {
  constructor(
    private readonly leaving: UserOffboarding,
    private readonly exports: UserExport,
    private readonly readers: Exports,
  ) {}

  @AdminChange('POST', 'users/:uid/offboard', 'users.write', AdminOffboardings, notFoundForCaller, lockOut)
  @ApiOperation({
    operationId: 'adminOffboardUser',
    summary: 'Let a user leave: disable the account, end everything, tell applications and the webhook receiver',
    description: 'A second call for a user who has left changes nothing, and answers the same receipt.',
  })
  async offboard(
    @Param('uid') uid: string,
    @Body() { via }: OffboardDto,
    @Caller() by: Authority,
  ): Promise<AdminOffboardings> {
    return offboardingsOf(await this.leaving.offboard(by, uid, via ?? 'api'));
  }

  @AlsoFor('auditor')
  @AdminGet('users/:uid/offboarding', 'users.read', AdminOffboardings, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminGetOffboarding',
    summary: 'The receipt of a user who has left: each step with its time, and what each receiver answered',
  })
  async receipt(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminOffboardings> {
    return offboardingsOf(await this.leaving.history(by, uid));
  }

  @AlsoFor('auditor')
  @AdminFile('users/:uid/export', 'users.read', notFoundForCaller)
  @ApiOperation({
    operationId: 'adminExportUser',
    summary: 'Everything that is stored about a user, as a JSON file',
    description: 'One member for each kind of rows. Secrets and hashes are left out; `has_…` tells that there is one.',
  })
  async export(
    @Param('uid') uid: string,
    @Caller() by: Authority,
    @Req() request: ExportRequest,
  ): Promise<StreamableFile> {
    const reader = this.readers.readerOf(request);
    const leave = reader.enter();
    try {
      const pieces = await this.exports.begin(by, uid, () => assertAdmitted(reader));
      const disposition = `attachment; filename="user-${uid}.json"`;
      return fileOf(inParts(pieces), reader, leave, { type: 'application/json; charset=utf-8', disposition });
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** An export can last for a long time: it ends with the rights of its reader. @throws DomainError AUTH_401004 */
async function assertAdmitted(reader: Reader): Promise<void> {
  if (!(await reader.isAdmitted())) throw new DomainError(accessTokenRevoked);
}

/** Each piece has the waiting time of a whole request. */
async function* inParts(pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  for (;;) {
    const next = await withOwnTime(() => pieces.next());
    if (next.done === true) return;
    yield next.value;
  }
}
