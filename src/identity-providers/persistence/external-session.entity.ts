import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `external_sessions`: a session of the service, and the one of the provider to which it belongs. */
@Entity('external_sessions')
export class ExternalSession {
  @PrimaryColumn('varchar', { length: 36 })
  sid: string;

  @Column('varchar', { name: 'identity_provider_id', length: 40 })
  identityProviderId: string;

  @Column('varchar', { name: 'subject_hash', length: 64 })
  subjectHash: string;

  /** SHA-256 of the provider's `sid` in hexadecimal. */
  @Column('varchar', { name: 'provider_sid_hash', length: 64, nullable: true })
  providerSidHash: string | null;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('datetime', { name: 'began_at' })
  beganAt: Date;
}
