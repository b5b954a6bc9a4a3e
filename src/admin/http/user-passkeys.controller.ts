import { Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import type { Administrator, Authority } from '../authority';
import { AdminChange, AdminList } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { listed, newestFirst, type Page, PageQuery, type Reader, Streamed, streamNote } from '../frame/lists';
import { UserPasskeys } from '../user-passkeys';
import { type AdminPasskeyItem, AdminPasskeyPage, passkeyItem } from './user-passkeys.dto';
import { AdminResult } from './users.dto';

/** The passkeys of one user (docs/spec/extensions.md#d). */
@ApiTags('admin')
@Controller('admin')
export class AdminUserPasskeysController {
  constructor(private readonly passkeys: UserPasskeys) {}

  @AdminList('users/:uid/passkeys', 'users.read', AdminPasskeyPage, notFoundForCaller)
  @ApiOperation({ operationId: 'adminListUserPasskeys', summary: 'The passkeys of a user', description: streamNote })
  async list(
    @Param('uid') uid: string,
    @Query() query: PageQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AdminPasskeyItem> | StreamableFile> {
    const passkeys = await this.passkeys.list(by, uid);
    const rows = newestFirst(passkeys, ({ createdAt, id }) => [createdAt.getTime(), id], passkeyItem);
    return listed(query, streamed, ['time', 'string'], rows);
  }

  @AdminChange('DELETE', 'users/:uid/passkeys/:id', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminDeleteUserPasskey', summary: 'Remove a passkey of a user, and tell the owner' })
  async remove(@Param('uid') uid: string, @Param('id') id: string, @Caller() by: Administrator): Promise<AdminResult> {
    await this.passkeys.remove(by, uid, id);
    return { result: true };
  }
}
