import { ApiProperty } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import type { OwnGrant } from '../own-grants';
import { InteractingApplication } from './interactions.dto';

export class GrantItem {
  @ApiProperty({ description: 'Identifies the grant. It opens nothing.' })
  id: string;

  @ApiProperty({ type: InteractingApplication })
  application: InteractingApplication;

  @ApiProperty({ type: [String], example: ['openid', 'profile'], description: 'What the user has allowed.' })
  scopes: string[];

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export class GrantsResponse {
  @ApiProperty({ type: [GrantItem], description: 'The newest first.' })
  grants: GrantItem[];
}

export class GrantEndedResponse extends DoneResponse {}

export function grantItem({ id, application, scopes, createdAt }: OwnGrant): GrantItem {
  const { name, logoUrl, uri } = application;
  return {
    id,
    application: { id: application.id, name, logo_url: logoUrl, uri },
    scopes: [...scopes],
    created_at: createdAt.toISOString(),
  };
}
