import { Controller, Param } from '@nestjs/common';
import { changeOf, shownPath } from '../../brand/brand-rules';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { LateBody, TakesLate, type UnreadBody } from '../../platform/http/late-body';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import type { Authority } from '../authority';
import { BrandAdministration, type BrandView } from '../brand-administration';
import { AdminChange, AdminGet } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { AlsoFor } from '../frame/declared-routes';
import { BrandResponse, ChangeBrandDto } from './brand.dto';
import { refused } from './refusals';

/** Three images of 256 KiB in base64, and the texts. */
const largestBody = 1_100 * 1024;
const note =
  'A field that is missing stays as it is, and null removes it. The default or the environment then gives it.';

/** The brand of the default and of each tenant (docs/spec/extensions.md#o). */
@ApiTags('admin')
@Controller('admin')
export class AdminBrandController {
  constructor(private readonly brands: BrandAdministration) {}

  @AlsoFor('auditor')
  @AdminGet('brand', 'default-brand.read', BrandResponse)
  @ApiOperation({ operationId: 'adminGetDefaultBrand', summary: 'The default brand, for tenants without a brand' })
  async default(@Caller() by: Authority): Promise<BrandResponse> {
    return brandItem(await this.brands.get(by, undefined));
  }

  @AdminChange('PUT', 'brand', 'default-brand.write', BrandResponse)
  @TakesLate(largestBody, ChangeBrandDto)
  @ApiOperation({ operationId: 'adminSetDefaultBrand', summary: 'Change the default brand', description: note })
  async setDefault(@LateBody() body: UnreadBody<ChangeBrandDto>, @Caller() by: Authority): Promise<BrandResponse> {
    return brandItem(await this.brands.set(by, undefined, changeOf(await body.read())).catch(refused));
  }

  @AlsoFor('auditor')
  @AdminGet('brand/:tenant_id', 'brand.read', BrandResponse, notFoundForCaller)
  @ApiOperation({ operationId: 'adminGetBrand', summary: 'The brand of a tenant' })
  async one(@Param('tenant_id') id: string, @Caller() by: Authority): Promise<BrandResponse> {
    return brandItem(await this.brands.get(by, id).catch(refused));
  }

  @AdminChange('PUT', 'brand/:tenant_id', 'brand.write', BrandResponse, notFoundForCaller)
  @TakesLate(largestBody, ChangeBrandDto)
  @ApiOperation({ operationId: 'adminSetBrand', summary: 'Change the brand of a tenant', description: note })
  async set(
    @Param('tenant_id') id: string,
    @LateBody() body: UnreadBody<ChangeBrandDto>,
    @Caller() by: Authority,
  ): Promise<BrandResponse> {
    return brandItem(await this.brands.set(by, id, changeOf(await body.read())).catch(refused));
  }
}

const brandItem = ({ own, inherited }: BrandView): BrandResponse => ({
  name: own?.name ?? null,
  color: own?.color ?? null,
  logo_light: shownPath(own?.logoLight),
  logo_dark: shownPath(own?.logoDark),
  favicon: shownPath(own?.favicon),
  tagline: own?.tagline ?? null,
  support_url: own?.supportUrl ?? null,
  privacy_url: own?.privacyUrl ?? null,
  imprint_url: own?.imprintUrl ?? null,
  inherited: {
    name: inherited.name,
    color: inherited.color,
    logo_light: inherited.logoUrl,
    logo_dark: inherited.logoDarkUrl,
    favicon: inherited.faviconUrl,
    tagline: inherited.tagline,
    support_url: inherited.supportUrl,
    privacy_url: inherited.privacyUrl,
    imprint_url: inherited.imprintUrl,
  },
});
