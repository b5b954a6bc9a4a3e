import { Body, Controller, Param, Query, StreamableFile } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { bodyField, type LimitedRequest, RateLimited } from '../../platform/limits/rate-limited.decorator';
import { rootTenant } from '../../platform/settings/system-settings';
import { DomainError } from '../../shared/errors/domain-error';
import { identityTaken, lockOut, notFoundForCaller, requestInvalid } from '../../shared/errors/error-catalogue';
import { defaultLanguage } from '../../shared/languages';
import type { NewUser, UserChange } from '../../users/user-accounts';
import { changedFields, createdFields } from '../../users/user-fields';
import type { UserPlace } from '../../users/user-listing';
import { unwired } from '../../users/user-wire';
import { everyTenant } from '../admin-scope';
import { AdminUsers } from '../admin-users';
import type { Authority } from '../authority';
import { AdminChange, AdminGet, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { type Place, plainCursors, type PlaceShape, sealedCursors } from '../frame/cursor';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { UserAdministration } from '../user-administration';
import { userDetail, userItem } from '../user-views';
import { UserChanges } from '../user-changes';
import { UserErasure } from '../user-erasure';
import {
  AdminResult,
  AdminUser,
  AdminUserItem,
  AdminUserPage,
  ChangeUserDto,
  CreateUserDto,
  UsersQuery,
} from './users.dto';

/** Users as administrators see and change them (docs/spec/extensions.md#d). */
@ApiTags('admin')
@Controller('admin')
export class AdminUsersController {
  constructor(
    private readonly users: AdminUsers,
    private readonly administration: UserAdministration,
    private readonly changes: UserChanges,
    private readonly erasure: UserErasure,
    private readonly keys: KeyRing,
  ) {}

  @AlsoFor('help_desk', 'auditor')
  @AdminList('users', 'users.read', AdminUserPage)
  @ApiOperation({ operationId: 'adminListUsers', summary: 'Find users', description: streamNote })
  async list(
    @Query() query: UsersQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<(Page<AdminUserItem> & Pick<AdminUserPage, 'total'>) | StreamableFile> {
    const { status, locked, sort } = query;
    const filter = {
      query: query.query === '' ? undefined : query.query,
      status: status === undefined ? undefined : Number(status),
      tenantId: query.tenant_id,
      locked: locked === undefined ? undefined : locked === 'true',
      sort,
    };
    // The cursor of a list that was sorted names its order.
    const shape: PlaceShape = ['number', 'string', 'string', ...(sort === undefined ? [] : (['string'] as const))];
    // The index of failed logins is that of all tenants: a page of one tenant can end at the row of another one (ADR 0027).
    const foreign = locked === 'true' && by.scope.tenantId !== everyTenant;
    const cursors = foreign ? sealedCursors(this.keys) : plainCursors;
    let total: number | null = null;
    const read = async (limit: number, after: Place | undefined) => {
      if (after !== undefined && after[3] !== sort) throw new DomainError(requestInvalid, { fields: ofAnotherOrder });
      const place = after?.slice(0, 3) as UserPlace | undefined;
      const { items, next, total: counted } = await this.users.page(by, filter, limit, place, streamed === undefined);
      total = counted;
      return { items: items.map(userItem), next: next && (sort === undefined ? next : [...next, sort]) };
    };
    const page = await listed(query, streamed, shape, read, cursors);
    return page instanceof StreamableFile ? page : { ...page, total };
  }

  @RateLimited(creationGroup, bodyField('email'))
  @AdminChange('POST', 'users', 'users.write', AdminUser, identityTaken)
  @ApiOperation({ operationId: 'adminCreateUser', summary: 'Create a user, who waits for an invitation' })
  async create(@Body() body: CreateUserDto, @Caller() by: Authority): Promise<AdminUser> {
    const user = newUser(by, body);
    const created = body.invite
      ? await this.administration.createInvited(by, user, by.actor?.client.language ?? defaultLanguage)
      : await this.administration.create(by, user);
    return this.one(created.uid, by);
  }

  @AlsoFor('help_desk', 'auditor')
  @AdminGet('users/:uid', 'users.read', AdminUser, notFoundForCaller)
  @ApiOperation({ operationId: 'adminGetUser', summary: 'One user, without secrets' })
  async one(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminUser> {
    return userDetail(await this.users.detail(by, uid));
  }

  @RateLimited('other', bodyField('email'))
  @AdminChange('PATCH', 'users/:uid', 'users.write', AdminUser, notFoundForCaller, identityTaken, lockOut)
  @ApiOperation({ operationId: 'adminChangeUser', summary: 'Change the given fields of a user' })
  async change(@Param('uid') uid: string, @Body() body: ChangeUserDto, @Caller() by: Authority): Promise<AdminUser> {
    const change = userChange(body);
    if (Object.values(change).every((value) => value === undefined)) {
      throw new DomainError(requestInvalid, { fields: { body: ['body names no field'] } });
    }
    await this.changes.change(by, uid, change);
    return this.one(uid, by);
  }

  @AdminChange('DELETE', 'users/:uid', 'users.write', AdminResult, notFoundForCaller, lockOut)
  @ApiOperation({ operationId: 'adminDeleteUser', summary: 'Erase what identifies a user' })
  async remove(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.erasure.erase(by, uid);
    return { result: true };
  }
}

const ofAnotherOrder = { after: ['after must be the `next` of a page in the same order'] };

/** A creation that sends an invitation is limited like every other mail to an address. */
function creationGroup({ body }: LimitedRequest): 'forgotPassword' | 'other' {
  return (body as Partial<CreateUserDto> | null | undefined)?.invite === true ? 'forgotPassword' : 'other';
}

function newUser({ scope }: Authority, body: CreateUserDto): NewUser {
  return {
    loginName: body.login_name,
    email: body.email,
    nickname: null,
    passwordHash: null,
    temporary: false,
    status: 1,
    mfaType: 'email',
    provider: 'password',
    isAdmin: false,
    tenantId: scope.tenantId === everyTenant ? rootTenant : scope.tenantId,
    orgUnitId: null,
    // The cast holds the DTO to the declaration: a field that the DTO does not have does not compile.
    ...unwired(body as Required<CreateUserDto>, createdFields),
  };
}

/** The cast holds the DTO to the declaration, as above. */
const userChange = (body: ChangeUserDto): UserChange => unwired(body as Required<ChangeUserDto>, changedFields);
