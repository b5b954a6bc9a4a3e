import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  youngSessionRequired,
  notFoundForCaller,
  notPermitted,
  passkeyNotRegistered,
  routeNotFound,
} from '../../shared/errors/error-catalogue';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { accessToken, youngSession } from '../../sessions/audiences';
import { type CurrentSession, Session, WithAccount } from '../../sessions/current-session';
import { OwnPasskeys } from '../own-passkeys';
import { PasskeysOn } from '../passkeys-on.guard';
import { PasskeyRegistration } from '../registration/passkey-registration';
import { creationOptions, CreationOptionsResponse } from './creation-options.dto';
import {
  itemView,
  PasskeyItem,
  PasskeyRegisteredResponse,
  PasskeyRemovedResponse,
  PasskeysResponse,
  RegisterPasskeyDto,
  registeredView,
  RenamePasskeyDto,
} from './passkeys.dto';

const idParameter = {
  name: 'id',
  description: 'The `id` of GET /passkeys.',
  schema: { type: 'string', format: 'uuid' },
} as const;

/** The passkeys of the logged-in user (docs/spec/extensions.md#b). */
@ApiTags('passkeys')
@Controller('passkeys')
@UseGuards(PasskeysOn)
export class PasskeysController {
  constructor(
    private readonly registration: PasskeyRegistration,
    private readonly passkeys: OwnPasskeys,
  ) {}

  @Post('options')
  @HttpCode(200)
  @ApiOperation({ operationId: 'createPasskeyOptions', summary: 'Begin to add a passkey' })
  @WithAccount()
  @AnswersTo(youngSession, CreationOptionsResponse, routeNotFound, notPermitted, passkeyNotRegistered)
  async options(@Session() session: CurrentSession): Promise<CreationOptionsResponse> {
    return creationOptions(await this.registration.options(session));
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ operationId: 'registerPasskey', summary: 'Add the passkey that the authenticator has made' })
  @AnswersTo(accessToken, PasskeyRegisteredResponse, routeNotFound, youngSessionRequired, passkeyNotRegistered)
  async register(
    @Body() { name, response }: RegisterPasskeyDto,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<PasskeyRegisteredResponse> {
    return registeredView(await this.registration.register({ name: name.trim(), response }, session, client));
  }

  @Get()
  @ApiOperation({ operationId: 'listPasskeys', summary: 'List your passkeys' })
  @AnswersTo(accessToken, PasskeysResponse, routeNotFound)
  async list(@Session() { user }: CurrentSession): Promise<PasskeysResponse> {
    return { passkeys: (await this.passkeys.list(user.uid)).map(itemView) };
  }

  @Patch(':id')
  @ApiParam(idParameter)
  @ApiOperation({ operationId: 'renamePasskey', summary: 'Rename one of your passkeys' })
  @AnswersTo(accessToken, PasskeyItem, routeNotFound, notFoundForCaller)
  async rename(
    @Param('id') id: string,
    @Body() { name }: RenamePasskeyDto,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<PasskeyItem> {
    return itemView(await this.passkeys.rename(session, id, name.trim(), client));
  }

  @Delete(':id')
  @ApiParam(idParameter)
  @ApiOperation({ operationId: 'deletePasskey', summary: 'Remove one of your passkeys' })
  @AnswersTo(youngSession, PasskeyRemovedResponse, routeNotFound, notFoundForCaller)
  async remove(
    @Param('id') id: string,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<PasskeyRemovedResponse> {
    await this.passkeys.remove(session, id, client);
    return { result: true };
  }
}
