import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `oidc_records`: a session, interaction, grant, code or token of the OpenID provider (docs/spec/extensions.md#j). */
@Entity('oidc_records')
export class OidcRecord {
  /** HMAC of kind and id: who reads the table cannot present the id. */
  @PrimaryColumn('varchar', { name: 'id_hash', length: 64 })
  idHash: string;

  @Column('varchar', { length: 32 })
  kind: string;

  /** JSON without the id. */
  @Column('text')
  payload: string;

  @Column('varchar', { name: 'grant_hash', length: 64, nullable: true })
  grantHash: string | null;

  @Column('varchar', { name: 'uid_hash', length: 64, nullable: true })
  uidHash: string | null;

  @Column('varchar', { name: 'user_code_hash', length: 64, nullable: true })
  userCodeHash: string | null;

  @Column('varchar', { name: 'application_id', length: 36, nullable: true })
  applicationId: string | null;

  @Column('varchar', { name: 'user_id', length: 36, nullable: true })
  userId: string | null;

  /** The session of the service with which the record ends; null when it outlives the log-out (`offline_access`). */
  @Column('varchar', { length: 36, nullable: true })
  sid: string | null;

  /** Of the user when it was made: a new password ends what has an older one. */
  @Column('integer', { name: 'credential_version', nullable: true })
  credentialVersion: number | null;

  @Column('datetime', { name: 'consumed_at', nullable: true })
  consumedAt: Date | null;

  @Column('datetime', { nullable: true })
  expires: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
