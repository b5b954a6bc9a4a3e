import type { RequestType } from '../../shared/change-type';
import { ApiProperty } from '../../platform/http/api-docs';
import type { RequestSummary } from '../forgot/request-summary';

/** A password change request as the endpoints show it (docs/spec/service.md#2.5). */
export class ChangeRequestResponse {
  @ApiProperty({ format: 'uuid', description: 'Names the request; it is not the token of the link.' })
  uid: string;

  @ApiProperty({ format: 'uuid' })
  user_id: string;

  @ApiProperty({ enum: [0, 2, 3], description: '0 first-time password, 2 forgotten, 3 expired.' })
  type: RequestType;

  @ApiProperty({ enum: [0, 1], description: '0 pending, 1 used.' })
  status: number;

  @ApiProperty({ format: 'date-time' })
  expired: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export function changeRequestResponse(request: RequestSummary): ChangeRequestResponse {
  return {
    uid: request.uid,
    user_id: request.userId,
    type: request.type,
    status: request.status,
    expired: request.expired.toISOString(),
    created_at: request.createdAt.toISOString(),
  };
}
