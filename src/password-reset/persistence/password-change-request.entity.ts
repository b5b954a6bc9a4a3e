import { Column, Entity, PrimaryColumn } from 'typeorm';

/** §1.7: first-time password, forgotten password, expired password. */
export type RequestType = 0 | 2 | 3;

/** `status` of §2.5. */
export const requestStatus = { pending: 0, used: 1 } as const;

/** A row of `user_change_password_request` (§2.5). `uid` names it; what opens it is the token, kept as SHA-256 only. */
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
