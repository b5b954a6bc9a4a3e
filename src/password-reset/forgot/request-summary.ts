import type { RequestType } from '../persistence/password-change-request.entity';

/** What is told of a request (§4.9, §4.10). */
export interface RequestSummary {
  /** Its reference, which opens nothing; the token itself where `RESET_RESPONSE_UID=token`. */
  readonly uid: string;
  readonly userId: string;
  readonly type: RequestType;
  readonly status: number;
  readonly expired: Date;
  readonly createdAt: Date;
}
