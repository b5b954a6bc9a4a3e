import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ImageField } from '../brand.entity';

/** A row of `brand_images`: a part of an image, because an image is longer than a TEXT of MySQL. */
@Entity('brand_images')
export class BrandImage {
  @PrimaryColumn('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @PrimaryColumn('varchar', { length: 16 })
  field: ImageField;

  @PrimaryColumn('integer')
  part: number;

  /** The hash of the content, and the extension: the name of the file below `/brand/`. */
  @Column('varchar', { length: 64 })
  name: string;

  /** Base64. */
  @Column('text')
  content: string;
}
