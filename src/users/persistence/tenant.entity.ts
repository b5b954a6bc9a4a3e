import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `tenants` (docs/spec/service.md#2.7). */
@Entity('tenants')
export class Tenant {
  @PrimaryColumn('varchar', { length: 64 })
  id: string;

  @Column('varchar', { length: 255 })
  name: string;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** See User.held. */
  @Column('integer', { default: 0, select: false })
  held?: number;
}
