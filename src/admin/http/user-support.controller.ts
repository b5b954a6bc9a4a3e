import { Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { pathParameter, RateLimited } from '../../platform/limits/rate-limited.decorator';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { defaultLanguage, type Language } from '../../shared/languages';
import type { LogoutPlace } from '../../applications/logout-tokens';
import { AdminUsers } from '../admin-users';
import type { Administrator, Authority } from '../authority';
import { AdminChange, AdminGet, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { cursorOf, placeOf, plainCursors } from '../frame/cursor';
import { listed, newestFirst, type Page, PageQuery, type Reader, Streamed, streamNote } from '../frame/lists';
import { UserSupport } from '../user-support';
import { AdminLogoutPage, LogoutsQuery } from './user-logouts.dto';
import { type AdminPasskeyItem, AdminPasskeyPage, passkeyItem } from './user-passkeys.dto';
import { AdminResult, AdminSessionItem, AdminSessionPage, AdminUserLogin, AdminUserLoginPage } from './users.dto';
import { loginItem, logoutItem, sessionItem } from '../user-views';

const languageOf = ({ actor }: Authority): Language => actor?.client.language ?? defaultLanguage;

/** Help for one user: the lock, the sessions, the second factor, the passkeys and the password (docs/spec/extensions.md#d). */
@ApiTags('admin')
@Controller('admin')
export class AdminUserSupportController {
  constructor(
    private readonly support: UserSupport,
    private readonly users: AdminUsers,
  ) {}

  @AlsoFor('help_desk')
  @AdminChange('POST', 'users/:uid/unlock', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminUnlockUser', summary: 'End the lock after failed logins and wrong codes' })
  async unlock(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.support.unlock(by, uid);
    return { result: true };
  }

  @AlsoFor('help_desk')
  @AdminChange('POST', 'users/:uid/revoke-sessions', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminRevokeSessions', summary: 'End all sessions and trusted devices of a user' })
  async revokeSessions(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.support.revokeTokens(by, uid);
    return { result: true };
  }

  @AlsoFor('help_desk')
  @AdminChange('POST', 'users/:uid/reset-second-factor', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminResetSecondFactor',
    summary: 'Remove the authenticator, the recovery codes and the trusted devices of a user',
  })
  async resetSecondFactor(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.support.resetSecondFactor(by, uid);
    return { result: true };
  }

  @AdminChange('POST', 'users/:uid/require-password-change', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminRequirePasswordChange',
    summary: 'Let the next login of a user ask for a new password',
    description: 'The next login answers `change_password: true` with a request of type 0. Open sessions go on.',
  })
  async requirePasswordChange(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.support.requirePasswordChange(by, uid);
    return { result: true };
  }

  @RateLimited('forgotPassword', pathParameter('uid'))
  @AlsoFor('help_desk')
  @AdminChange('POST', 'users/:uid/invite', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminInviteUser', summary: 'Mail a link by which the user sets the first password' })
  async invite(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.support.inviteByMail(by, uid, languageOf(by));
    return { result: true };
  }

  @RateLimited('forgotPassword', pathParameter('uid'))
  @AlsoFor('help_desk')
  @AdminChange('POST', 'users/:uid/send-reset-link', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminSendResetLink', summary: 'Mail the link of a forgotten password' })
  async sendResetLink(@Param('uid') uid: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.support.sendResetLink(by, uid, languageOf(by));
    return { result: true };
  }

  @AlsoFor('help_desk', 'auditor')
  @AdminList('users/:uid/sessions', 'users.read', AdminSessionPage, notFoundForCaller)
  @ApiOperation({ operationId: 'adminListUserSessions', summary: 'The sessions of a user', description: streamNote })
  async sessions(
    @Param('uid') uid: string,
    @Query() query: PageQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AdminSessionItem> | StreamableFile> {
    const sessions = await this.users.sessions(by, uid);
    const rows = newestFirst(sessions, ({ createdAt, sid }) => [createdAt.getTime(), sid], sessionItem);
    return listed(query, streamed, ['time', 'string'], rows);
  }

  @AlsoFor('help_desk', 'auditor')
  @AdminList('users/:uid/logins', 'users.read', AdminUserLoginPage, notFoundForCaller)
  @ApiOperation({ operationId: 'adminListUserLogins', summary: 'The logins of a user', description: streamNote })
  logins(
    @Param('uid') uid: string,
    @Query() query: PageQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AdminUserLogin> | StreamableFile> {
    return listed(query, streamed, ['time', 'number'], async (limit, after) => {
      const before = after && { at: new Date(Number(after[0])), id: Number(after[1]) };
      const rows = await this.users.logins(by, uid, limit + 1, before);
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      const next = rows.length > limit && last ? [last.createdAt.getTime(), last.id] : null;
      return { items: items.map(loginItem), next };
    });
  }

  @AlsoFor('help_desk', 'auditor')
  @AdminList('users/:uid/passkeys', 'users.read', AdminPasskeyPage, notFoundForCaller)
  @ApiOperation({ operationId: 'adminListUserPasskeys', summary: 'The passkeys of a user', description: streamNote })
  async passkeys(
    @Param('uid') uid: string,
    @Query() query: PageQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AdminPasskeyItem> | StreamableFile> {
    const passkeys = await this.users.passkeys(by, uid);
    const rows = newestFirst(passkeys, ({ createdAt, id }) => [createdAt.getTime(), id], passkeyItem);
    return listed(query, streamed, ['time', 'string'], rows);
  }

  @AlsoFor('help_desk', 'auditor')
  @AdminGet('users/:uid/logouts', 'users.read', AdminLogoutPage, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminListUserLogouts',
    summary: 'Which applications were told of the ends of the sessions of a user, and what they answered',
  })
  async logouts(
    @Param('uid') uid: string,
    @Query() query: LogoutsQuery,
    @Caller() by: Authority,
  ): Promise<AdminLogoutPage> {
    const place =
      query.cursor === undefined ? undefined : placeOf(query.cursor, ['time', 'string'], plainCursors, 'cursor');
    const limit = Number(query.limit ?? 50);
    const rows = await this.users.logouts(by, uid, limit + 1, place as LogoutPlace | undefined);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      logouts: rows.slice(0, limit).map(logoutItem),
      next: last === undefined ? null : cursorOf([last.createdAt.getTime(), last.id], plainCursors),
    };
  }

  @AdminChange('DELETE', 'users/:uid/passkeys/:id', 'users.write', AdminResult, notFoundForCaller)
  @ApiOperation({ operationId: 'adminDeleteUserPasskey', summary: 'Remove a passkey of a user, and tell the owner' })
  async removePasskey(
    @Param('uid') uid: string,
    @Param('id') id: string,
    @Caller() by: Administrator,
  ): Promise<AdminResult> {
    await this.support.removePasskey(by, uid, id);
    return { result: true };
  }
}
