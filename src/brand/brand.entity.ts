import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The row that every page without a brand of its own shows. No tenant can have this id. */
export const defaultBrand = '*';

/** A row of `brands`: the brand of a tenant, or the default. Null: the field comes from the default or the environment. */
@Entity('brands')
export class Brand {
  @PrimaryColumn('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @Column('varchar', { length: 64, nullable: true })
  name: string | null;

  /** `#rrggbb`. */
  @Column('varchar', { length: 7, nullable: true })
  color: string | null;

  /** The name of a file below `/brand/`, for light backgrounds. */
  @Column('varchar', { name: 'logo_light', length: 64, nullable: true })
  logoLight: string | null;

  @Column('varchar', { name: 'logo_dark', length: 64, nullable: true })
  logoDark: string | null;

  @Column('varchar', { length: 64, nullable: true })
  favicon: string | null;

  @Column('varchar', { length: 160, nullable: true })
  tagline: string | null;

  @Column('varchar', { name: 'support_url', length: 512, nullable: true })
  supportUrl: string | null;

  @Column('varchar', { name: 'privacy_url', length: 512, nullable: true })
  privacyUrl: string | null;

  @Column('varchar', { name: 'imprint_url', length: 512, nullable: true })
  imprintUrl: string | null;

  @Column('datetime', { name: 'changed_at' })
  changedAt: Date;
}

export const imageFields = ['logoLight', 'logoDark', 'favicon'] as const;
export const linkFields = ['supportUrl', 'privacyUrl', 'imprintUrl'] as const;
export type ImageField = (typeof imageFields)[number];
export type BrandValues = Omit<Brand, 'tenantId' | 'changedAt'>;
