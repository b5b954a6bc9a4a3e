import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { Clock } from '../shared/clock';
import type { CheckedImage } from './images/image';
import { Brand, type BrandValues, defaultBrand, type ImageField } from './brand.entity';
import { BrandImage } from './persistence/brand-image.entity';

/** A TEXT of MySQL has 65,535 bytes. A multiple of 4, so that each part is base64 by itself. */
const partLength = 60_000;

/** The tables `brands` and `brand_images`. */
@Injectable()
export class Brands {
  private readonly rows: EntityRows<Brand>;
  private readonly images: EntityRows<BrandImage>;

  constructor(
    @InjectRepository(Brand) rows: Repository<Brand>,
    @InjectRepository(BrandImage) images: Repository<BrandImage>,
    database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
    this.images = new EntityRows(images, database);
  }

  /** `utf8mb4_bin` ignores trailing spaces, so the id is compared once more. */
  async find(tenantId: string): Promise<Brand | null> {
    const row = await this.rows.findOne({ tenantId });
    return row?.tenantId === tenantId ? row : null;
  }

  /** The default and every tenant that has a brand. */
  list(): Promise<Brand[]> {
    return this.rows.find({ tenantId: MoreThan('') }, { order: { tenantId: 'ASC' } });
  }

  /** Whether any tenant has a row: ids of tenants come after `*`. */
  async anyOfTenant(): Promise<boolean> {
    return (await this.rows.findOne({ tenantId: MoreThan(defaultBrand) })) !== null;
  }

  /**
   * Sets the given fields; the others stay.
   * Race: two changes of one brand, on any replica. The first INSERT makes the row, and the other caller finds it there. The
   * UPDATE then holds the row until the transaction ends, so the second change waits. Each field that both set is that of the
   * second one, and a field that only one sets is never lost. The images are written after the UPDATE, under the same lock.
   */
  async change(tx: Transaction, tenantId: string, change: Partial<BrandValues>): Promise<void> {
    const changedAt = this.clock.now();
    if ((await this.rows.update(tx, { tenantId }, { ...change, changedAt })) === 1) return;
    if (await this.rows.added(tx, { tenantId, ...change, changedAt })) return;
    await this.rows.update(tx, { tenantId }, { ...change, changedAt });
  }

  /** Replaces the image of a field whose row `change` holds. Null removes it. */
  async setImage(tx: Transaction, tenantId: string, field: ImageField, image: CheckedImage | null): Promise<void> {
    await this.images.remove(tx, { tenantId, field });
    const content = image?.content.toString('base64') ?? '';
    for (let part = 0; part * partLength < content.length; part++) {
      const piece = content.slice(part * partLength, (part + 1) * partLength);
      await this.images.insert(tx, { tenantId, field, part, name: image!.name, content: piece });
    }
  }

  /** @returns undefined when no brand has an image of this name */
  async image(name: string): Promise<Buffer | undefined> {
    // Two brands can have the same image, and its parts are the same then.
    const parts = await this.images.find(
      { name },
      { order: { tenantId: 'ASC', field: 'ASC', part: 'ASC' }, limit: 64 },
    );
    const [first] = parts;
    if (first?.name !== name) return undefined;
    const own = parts.filter(({ tenantId, field }) => tenantId === first.tenantId && field === first.field);
    return Buffer.from(own.map(({ content }) => content).join(''), 'base64');
  }
}
