import { Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { trustedDeviceView } from '../../sessions/trusted-device-view';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { AdminUsers } from '../admin-users';
import type { Authority } from '../authority';
import { AdminChange, AdminList } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { AlsoFor } from '../frame/declared-routes';
import { listed, newestFirst, type Page, PageQuery, type Reader, Streamed, streamNote } from '../frame/lists';
import { UserSupport } from '../user-support';
import { type AdminDeviceItem, AdminDevicePage } from './user-devices.dto';
import { AdminResult } from './users.dto';

/** Where a user is signed in or known: ends one of these places, and leaves the others (docs/spec/extensions.md#o). */
@ApiTags('admin')
@Controller('admin')
export class AdminUserSignedInController {
  constructor(
    private readonly support: UserSupport,
    private readonly users: AdminUsers,
  ) {}

  @AlsoFor('help_desk')
  @AdminChange('DELETE', 'users/:uid/sessions/:sid', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminEndUserSession', summary: 'End one session of a user' })
  async endSession(
    @Param('uid') uid: string,
    @Param('sid') sid: string,
    @Caller() by: Authority,
  ): Promise<AdminResult> {
    await this.support.endSession(by, uid, sid);
    return { result: true };
  }

  @AlsoFor('help_desk', 'auditor')
  @AdminList('users/:uid/devices', 'users.read', AdminDevicePage, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminListUserDevices',
    summary: 'The devices on which a login of the user needs no code',
    description: streamNote,
  })
  async devices(
    @Param('uid') uid: string,
    @Query() query: PageQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AdminDeviceItem> | StreamableFile> {
    const devices = await this.users.trustedDevices(by, uid);
    const rows = newestFirst(devices, ({ createdAt, id }) => [createdAt.getTime(), id], trustedDeviceView);
    return listed(query, streamed, ['time', 'string'], rows);
  }

  @AdminChange('DELETE', 'users/:uid/devices/:id', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminDeleteUserDevice', summary: 'Let the next login on one device need a code again' })
  async removeDevice(
    @Param('uid') uid: string,
    @Param('id') id: string,
    @Caller() by: Authority,
  ): Promise<AdminResult> {
    await this.support.removeDevice(by, uid, id);
    return { result: true };
  }
}
