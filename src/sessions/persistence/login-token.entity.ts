import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TokenUse } from '../token-payload';

/** A row of `login_tokens` (docs/spec/service.md#2.2): one for each issued JWT. */
@Entity('login_tokens')
export class LoginToken {
  @PrimaryColumn('varchar', { length: 36 })
  jti: string;

  @Column('varchar', { name: 'token_type', length: 16 })
  tokenType: TokenUse;

  @Column('varchar', { name: 'user_identity', length: 36 })
  userIdentity: string;

  @Column('boolean', { name: 'is_revoked' })
  isRevoked: boolean;

  @Column('datetime')
  expires: Date;

  @Column('varchar', { length: 36 })
  sid: string;

  @Column('integer', { name: 'credential_version' })
  credentialVersion: number;

  /**
   * The `jti` of the token that replaced this refresh token. The first rotation sets it, and no other one changes it.
   */
  @Column('varchar', { name: 'successor_jti', length: 36, nullable: true })
  successorJti: string | null;

  @Column('datetime', { name: 'succeeded_at', nullable: true })
  succeededAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  // Only the first row of a session has values in the columns below. They are null for a session of before they existed.

  /** The address of the client that logged in. */
  @Column('varchar', { length: 45, nullable: true })
  ip: string | null;

  @Column('varchar', { name: 'user_agent', length: 512, nullable: true })
  userAgent: string | null;

  /** How the session was authenticated, as in the claim `amr`, separated by spaces. */
  @Column('varchar', { length: 64, nullable: true })
  amr: string | null;

  /** The last check of a credential in this session. A refresh does not change it. */
  @Column('datetime', { name: 'authenticated_at', nullable: true })
  authenticatedAt: Date | null;

  /** The newest refresh among the rows that `purge` has deleted. A later refresh shows in the rows that are left. */
  @Column('datetime', { name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;
}
