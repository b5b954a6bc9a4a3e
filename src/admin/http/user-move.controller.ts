import { Body, Controller, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { type LimitedRequest, pathParameter, RateLimited } from '../../platform/limits/rate-limited.decorator';
import { lockOut, notFoundForCaller } from '../../shared/errors/error-catalogue';
import { defaultLanguage } from '../../shared/languages';
import { AdminUsers } from '../admin-users';
import type { Authority } from '../authority';
import { AdminChange } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { UserMove } from '../user-move';
import { userDetail } from '../user-views';
import { MoveUserDto } from './user-move.dto';
import { AdminUser } from './users.dto';

/** Another kind of sign-in for a user (docs/spec/extensions.md#k). */
@ApiTags('admin')
@Controller('admin')
export class AdminUserMoveController {
  constructor(
    private readonly moves: UserMove,
    private readonly users: AdminUsers,
  ) {}

  @RateLimited(moveGroup, pathParameter('uid'))
  @AdminChange('POST', 'users/:uid/provider', 'identity-providers.write', AdminUser, notFoundForCaller, lockOut)
  @ApiOperation({
    operationId: 'adminMoveUser',
    summary: 'Move a user to another kind of sign-in',
    description:
      'Ends the sessions, links, codes, trusted devices and passkeys of the user, and what the user was bound to. The password is removed. A move to `password` mails an invitation.',
  })
  async move(@Param('uid') uid: string, @Body() body: MoveUserDto, @Caller() by: Authority): Promise<AdminUser> {
    const { provider, identity_provider: identityProviderId = null, external_id: externalId } = body;
    const language = by.actor?.client.language ?? defaultLanguage;
    await this.moves.move(by, uid, { provider, identityProviderId, externalId }, language);
    return userDetail(await this.users.detail(by, uid));
  }
}

/** A move to `password` sends an invitation, and is limited like every other mail to an address. */
function moveGroup({ body }: LimitedRequest): 'forgotPassword' | 'other' {
  return (body as Partial<MoveUserDto> | null | undefined)?.provider === 'password' ? 'forgotPassword' : 'other';
}
