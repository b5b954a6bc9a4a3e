import { ApiProperty } from '../../platform/http/api-docs';
import { InteractingApplication } from './interactions.dto';

export class GrantItem {
  @ApiProperty({ example: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c' })
  id: string;

  @ApiProperty({ type: InteractingApplication })
  application: InteractingApplication;

  @ApiProperty({ type: [String], example: ['openid', 'profile'] })
  scopes: string[];

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export class GrantsResponse {
  @ApiProperty({ type: [GrantItem], description: 'The newest first.' })
  grants: GrantItem[];
}
