import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Who makes a group and its members: administrators, SCIM, the directory, or an identity provider. */
export type GroupSource = 'admin' | 'scim' | 'directory' | 'provider';

/** A row of `user_groups`: a group of users of one tenant (docs/spec/extensions.md#l). */
@Entity('user_groups')
export class Group {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @Column('varchar', { length: 255 })
  name: string;

  /** `identityKey` of the name: unique within the tenant. */
  @Column('varchar', { name: 'name_key', length: 255 })
  nameKey: string;

  @Column('varchar', { length: 16 })
  source: GroupSource;

  /** The id of the identity provider that owns it; null for another source. */
  @Column('varchar', { name: 'owner_id', length: 64, nullable: true })
  ownerId: string | null;

  /** The name that a SCIM client has for it. */
  @Column('varchar', { name: 'external_id', length: 255, nullable: true })
  externalId: string | null;

  /** Increased by each write of the group and of its members. */
  @Column('integer')
  version: number;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  @Column('datetime', { name: 'changed_at' })
  changedAt: Date;
}
