import type { RequestType } from '../../shared/change-type';

/** The part of a request that the endpoints show. */
export interface RequestSummary {
  /** Names the request and opens nothing. With `RESET_RESPONSE_UID=token` it is the reset token. */
  readonly uid: string;
  readonly userId: string;
  readonly type: RequestType;
  readonly status: number;
  readonly expired: Date;
  readonly createdAt: Date;
}
