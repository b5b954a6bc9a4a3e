import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `external_identities`: this person at this provider is this user. */
@Entity('external_identities')
export class ExternalIdentity {
  @PrimaryColumn('varchar', { name: 'identity_provider_id', length: 40 })
  identityProviderId: string;

  /** SHA-256 of the `sub` in hexadecimal: case counts in a `sub`, and not in the order of the databases. */
  @PrimaryColumn('varchar', { name: 'subject_hash', length: 64 })
  subjectHash: string;

  @Column('varchar', { length: 255 })
  subject: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('datetime', { name: 'bound_at' })
  boundAt: Date;

  @Column('datetime', { name: 'last_used_at' })
  lastUsedAt: Date;

  /** The provider has told that this person has signed out there. What it vouched for earlier opens no session. */
  @Column('datetime', { name: 'signed_out_at', nullable: true })
  signedOutAt: Date | null;
}
