import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { accessToken } from '../audiences';
import { type CurrentSession, Session } from '../current-session';
import { trustedDeviceView } from '../trusted-device-view';
import { type DeviceOwner, TrustedDevices } from '../trusted-devices';
import { DeviceRemovedResponse, TrustedDevicesResponse } from './trusted-devices.dto';

/** The trusted devices of the logged-in user (docs/spec/extensions.md#trusted-devices). */
@ApiTags('account')
@Controller('user/devices')
export class TrustedDevicesController {
  constructor(private readonly devices: TrustedDevices) {}

  @Get()
  @ApiOperation({ operationId: 'getTrustedDevices', summary: 'List the devices on which a login needs no code' })
  @AnswersTo(accessToken, TrustedDevicesResponse)
  async list(@Session() session: CurrentSession): Promise<TrustedDevicesResponse> {
    return { devices: (await this.devices.list(ownerOf(session))).map(trustedDeviceView) };
  }

  @Delete(':id')
  @ApiParam({ name: 'id', description: 'The `id` of GET /user/devices.', schema: { type: 'string', format: 'uuid' } })
  @ApiOperation({ operationId: 'deleteTrustedDevice', summary: 'End the trust in one device' })
  @AnswersTo(accessToken, DeviceRemovedResponse, notFoundForCaller)
  async remove(
    @Param('id') id: string,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<DeviceRemovedResponse> {
    if (!(await this.devices.remove(ownerOf(session), id, client))) throw new DomainError(notFoundForCaller);
    return { result: true };
  }
}

function ownerOf({ user, credentialVersion }: CurrentSession): DeviceOwner {
  return { uid: user.uid, credentialVersion };
}
