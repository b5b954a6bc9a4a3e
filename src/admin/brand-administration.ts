import { Injectable } from '@nestjs/common';
import { type Brand, defaultBrand } from '../brand/brand.entity';
import { type BrandChange, checkedBrand, wireNames } from '../brand/brand-rules';
import { Brands } from '../brand/brands.repository';
import { type ShownBrand, TenantBrands } from '../brand/tenant-brands';
import { Database } from '../platform/database/database';
import { TenantRepository } from '../users/tenant.repository';
import { AdminChanges } from './admin-changes';
import { isWithin } from './admin-scope';
import type { Authority } from './authority';
import { EntryNotFound } from './entries';

export interface BrandView {
  /** Null: nothing was set. */
  readonly own: Brand | null;
  readonly inherited: ShownBrand;
}

/** The brand of the default and of each tenant in the hands of administrators (docs/spec/extensions.md#o). */
@Injectable()
export class BrandAdministration {
  constructor(
    private readonly brands: Brands,
    private readonly shown: TenantBrands,
    private readonly tenants: TenantRepository,
    private readonly changes: AdminChanges,
    private readonly database: Database,
  ) {}

  /** @param tenantId undefined for the default @throws EntryNotFound for a tenant outside the scope */
  async get({ scope }: Authority, tenantId: string | undefined): Promise<BrandView> {
    const reaches = tenantId === undefined || isWithin(scope, tenantId);
    if (!reaches || (tenantId !== undefined && !(await this.tenants.exists(this.database, tenantId)))) throw missing();
    const id = tenantId ?? defaultBrand;
    return { own: await this.brands.find(id), inherited: await this.shown.inherited(id) };
  }

  /** The default and every tenant that has a brand, for the command line. */
  list(): Promise<Brand[]> {
    return this.brands.list();
  }

  /** @throws EntryNotFound @throws BrandProblem */
  async set(by: Authority, tenantId: string | undefined, change: BrandChange): Promise<BrandView> {
    const { own } = await this.get(by, tenantId);
    const { values, images } = checkedBrand(change, own);
    const id = tenantId ?? defaultBrand;
    await this.changes.makeIfAny(by, async ({ tx, record }) => {
      if (Object.keys(values).length === 0) return false;
      await this.brands.change(tx, id, values);
      for (const [field, image] of images) await this.brands.setImage(tx, id, field, image);
      const fields = (Object.keys(values) as (keyof typeof wireNames)[]).map((field) => wireNames[field]);
      await record('BRAND_CHANGED', { detail: { tenant: tenantId ?? null, fields: fields.join(', ') } });
      tx.afterCommit(() => this.shown.forget(id));
      return true;
    });
    return this.get(by, tenantId);
  }
}

const missing = () => new EntryNotFound('there is no such tenant');
