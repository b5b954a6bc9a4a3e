import { Injectable } from '@nestjs/common';
import { type MailBrand, MailBrands } from '../mail/mail-brands';
import { UsersRepository } from '../users/users.repository';
import { defaultBrand } from './brand.entity';
import { BrandFiles } from './brand-files';
import { TenantBrands } from './tenant-brands';

/** A mail shows the brand of the tenant that its user has when it is sent. */
@Injectable()
export class BrandsOfMails {
  constructor(
    mails: MailBrands,
    private readonly users: UsersRepository,
    private readonly brands: TenantBrands,
    private readonly files: BrandFiles,
  ) {
    mails.register((userId) => this.of(userId));
  }

  private async of(userId: string | null): Promise<MailBrand | undefined> {
    const tenantId = await this.tenantOf(userId);
    const own = [await this.brands.own(tenantId), await this.brands.own(defaultBrand)];
    if (own.every((brand) => brand === null)) return undefined;
    const { name, color, supportUrl, logoUrl } = await this.brands.shown(tenantId);
    // A logo of the environment is known to the templates by its file.
    const stored = own.find((brand) => brand?.logoLight != null || brand?.logoDark != null);
    if (stored == null) return { name, color, supportUrl, logo: undefined };
    const file = logoUrl?.endsWith('.png') ? logoUrl.slice(logoUrl.lastIndexOf('/') + 1) : undefined;
    const content = file === undefined ? undefined : await this.files.find(file);
    return { name, color, supportUrl, logo: content === undefined ? null : { name: file!, content } };
  }

  /** Undefined where no tenant has a brand, without a statement. */
  private async tenantOf(userId: string | null): Promise<string | undefined> {
    if (userId === null || !(await this.brands.anyOfTenant())) return undefined;
    return (await this.users.findByUid(userId))?.tenantId;
  }
}
