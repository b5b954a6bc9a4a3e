import { ApiProperty } from '../../platform/http/api-docs';
import { TrustedDeviceDto } from '../../sessions/trusted-device-view';
import { nextCursor } from '../frame/lists';

export class AdminDeviceItem extends TrustedDeviceDto {}

export class AdminDevicePage {
  @ApiProperty({ type: [AdminDeviceItem], description: 'The newest first.' })
  items: AdminDeviceItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}
