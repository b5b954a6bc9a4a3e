import { ApiProperty } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import { TrustedDeviceDto } from '../trusted-device-view';

export class TrustedDevicesResponse {
  @ApiProperty({ type: [TrustedDeviceDto], description: 'The last used device first.' })
  devices: TrustedDeviceDto[];
}

export class DeviceRemovedResponse extends DoneResponse {}
