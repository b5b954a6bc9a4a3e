import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `service_clients`: a service behind the portal that may ask about tokens (docs/spec/extensions.md#f). */
@Entity('service_clients')
export class ServiceClient {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { length: 255 })
  name: string;

  /** SHA-256 in hexadecimal. The secret has 256 random bits, so a slow hash would protect nothing more. */
  @Column('varchar', { name: 'secret_hash', length: 64 })
  secretHash: string;

  @Column('datetime', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
