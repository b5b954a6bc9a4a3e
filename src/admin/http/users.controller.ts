import { Controller, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { Authority } from '../authority';
import { AdminGet } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { listed, type Page, Streamed, streamNote } from '../frame/lists';
import { AdminUsers } from '../admin-users';
import { AdminUserItem, AdminUserPage, UsersQuery } from './users.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminUsersController {
  constructor(private readonly users: AdminUsers) {}

  @AdminGet('users', 'users.read', AdminUserPage)
  @ApiOperation({ operationId: 'adminListUsers', summary: 'Find users', description: streamNote })
  list(
    @Query() query: UsersQuery,
    @Streamed() streamed: boolean,
    @Caller() by: Authority,
  ): Promise<Page<AdminUserItem> | StreamableFile> {
    return listed(query, streamed, ['string'], (limit, after) => this.users.page(by, query, limit, after));
  }
}
