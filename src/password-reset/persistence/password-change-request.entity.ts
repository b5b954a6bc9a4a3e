import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RequestType } from '../../shared/change-type';

/** Values of the column `status`. */
export const requestStatus = { pending: 0, used: 1 } as const;

/** A row of `user_change_password_request`. Only the token opens the request. Only the token's SHA-256 is stored. */
@Entity('user_change_password_request')
export class PasswordChangeRequest {
  @PrimaryColumn('varchar', { length: 36 })
  uid: string;

  @Column('varchar', { name: 'token_hash', length: 64 })
  tokenHash: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('integer')
  type: RequestType;

  @Column('integer')
  status: number;

  @Column('integer', { name: 'credential_version' })
  credentialVersion: number;

  @Column('datetime')
  expired: Date;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}

/**
 * The part of a request that the endpoints show. By default, `uid` only identifies the request and cannot open it. With
 * `RESET_RESPONSE_UID=token`, `uid` is the reset token.
 */
export type RequestSummary = Readonly<Omit<PasswordChangeRequest, 'tokenHash' | 'credentialVersion'>>;
