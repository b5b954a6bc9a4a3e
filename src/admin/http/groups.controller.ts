import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import type { GroupPlace } from '../../groups/group-listing';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import { rootTenant } from '../../platform/settings/system-settings';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { everyTenant } from '../admin-scope';
import type { Authority } from '../authority';
import { AdminChange, AdminGet, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { GroupAdministration } from '../group-administration';
import { groupView, memberView } from '../group-views';
import {
  ChangeGroupDto,
  CreateGroupDto,
  GroupDetailResponse,
  GroupItem,
  type GroupMemberItem,
  GroupMemberPage,
  GroupMembersQuery,
  GroupPageResponse,
  GroupsQuery,
} from './groups.dto';

/** Groups of users (docs/spec/extensions.md#l). */
@ApiTags('admin')
@Controller('admin')
export class AdminGroupsController {
  constructor(private readonly groups: GroupAdministration) {}

  @AlsoFor('auditor')
  @AdminList('groups', 'groups.read', GroupPageResponse)
  @ApiOperation({ operationId: 'adminListGroups', summary: 'The groups', description: streamNote })
  list(
    @Query() query: GroupsQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<GroupItem> | StreamableFile> {
    const filter = { query: query.query, tenantId: query.tenant_id };
    return listed(query, streamed, ['string', 'string'], async (limit, after) => {
      const { items, next } = await this.groups.page(by, filter, limit, after as GroupPlace | undefined);
      return { items: items.map(groupView), next };
    });
  }

  @AdminChange('POST', 'groups', 'groups.write', GroupItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminCreateGroup', summary: 'Create a group' })
  async create(@Body() { name, tenant_id: tenant }: CreateGroupDto, @Caller() by: Authority): Promise<GroupItem> {
    const own = by.scope.tenantId === everyTenant ? rootTenant : by.scope.tenantId;
    return groupView(await this.groups.create(by, tenant ?? own, name));
  }

  @AlsoFor('auditor')
  @AdminGet('groups/:id', 'groups.read', GroupDetailResponse, notFoundForCaller)
  @ApiOperation({ operationId: 'adminGetGroup', summary: 'One group' })
  async one(@Param('id') id: string, @Caller() by: Authority): Promise<GroupDetailResponse> {
    const { group, members } = await this.groups.get(by, id);
    return { ...groupView(group), members };
  }

  @AdminChange('PATCH', 'groups/:id', 'groups.write', GroupItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminChangeGroup', summary: 'Rename a group' })
  async change(@Param('id') id: string, @Body() { name }: ChangeGroupDto, @Caller() by: Authority): Promise<GroupItem> {
    return groupView(await this.groups.rename(by, id, name));
  }

  @AdminChange('DELETE', 'groups/:id', 'groups.write', DoneResponse, notFoundForCaller)
  @ApiOperation({ operationId: 'adminDeleteGroup', summary: 'Delete a group; its members stay users' })
  async remove(@Param('id') id: string, @Caller() by: Authority): Promise<DoneResponse> {
    await this.groups.remove(by, id);
    return { result: true };
  }

  @AlsoFor('auditor')
  @AdminList('groups/:id/members', 'groups.read', GroupMemberPage, notFoundForCaller)
  @ApiOperation({ operationId: 'adminListGroupMembers', summary: 'The members of a group', description: streamNote })
  members(
    @Param('id') id: string,
    @Query() query: GroupMembersQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<GroupMemberItem> | StreamableFile> {
    return listed(query, streamed, ['string'], async (limit, after) => {
      const { items, next } = await this.groups.membersOf(by, id, limit, after?.[0] as string);
      return { items: items.map(memberView), next };
    });
  }

  @AdminChange('PUT', 'groups/:id/members/:uid', 'groups.write', DoneResponse, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminAddGroupMember',
    summary: 'Make a user a member of a group',
    description:
      'A user of the tenant of the group; others are USER_404001. A success also for a user who is one already.',
  })
  async add(@Param('id') id: string, @Param('uid') uid: string, @Caller() by: Authority): Promise<DoneResponse> {
    await this.groups.addMember(by, id, uid);
    return { result: true };
  }

  @AdminChange('DELETE', 'groups/:id/members/:uid', 'groups.write', DoneResponse, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminRemoveGroupMember',
    summary: 'End the membership of a user in a group',
    description: 'A success also for a user who is no member.',
  })
  async removeMember(
    @Param('id') id: string,
    @Param('uid') uid: string,
    @Caller() by: Authority,
  ): Promise<DoneResponse> {
    await this.groups.removeMember(by, id, uid);
    return { result: true };
  }
}
