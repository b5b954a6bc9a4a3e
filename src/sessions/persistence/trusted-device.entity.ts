import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `trusted_devices` (docs/spec/extensions.md#trusted-devices). The series of its token stays the same. */
@Entity('trusted_devices')
export class TrustedDevice {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('varchar', { name: 'series_hash', length: 64 })
  seriesHash: string;

  @Column('varchar', { name: 'token_hash', length: 64 })
  tokenHash: string;

  /** The token before this one. It is null until the first login without a code. */
  @Column('varchar', { name: 'previous_hash', length: 64, nullable: true })
  previousHash: string | null;

  @Column('datetime', { name: 'replaced_at', nullable: true })
  replacedAt: Date | null;

  @Column('integer', { name: 'credential_version' })
  credentialVersion: number;

  /** The address of the last use. */
  @Column('varchar', { length: 45 })
  ip: string;

  @Column('varchar', { name: 'user_agent', length: 512 })
  userAgent: string;

  @Column('datetime', { name: 'last_used_at' })
  lastUsedAt: Date;

  @Column('datetime', { name: 'ended_at', nullable: true })
  endedAt: Date | null;

  @Column('datetime')
  expires: Date;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
