import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A row of `service_clients`: a service behind the portal that may ask about tokens (docs/spec/extensions.md#f), or a system that
 * provisions users and groups by SCIM (docs/spec/extensions.md#l).
 */
@Entity('service_clients')
export class ServiceClient {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { length: 255 })
  name: string;

  /** SHA-256 in hexadecimal. The secret has 256 random bits, so a slow hash would protect nothing more. */
  @Column('varchar', { name: 'secret_hash', length: 64 })
  secretHash: string;

  /** Then its token is for SCIM only, and without it for questions about tokens only. */
  @Column('boolean', { default: false })
  scim: boolean;

  /** The tenant that a client of SCIM reaches; null for all. */
  @Column('varchar', { name: 'tenant_id', length: 64, nullable: true })
  tenantId: string | null;

  @Column('datetime', { name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
