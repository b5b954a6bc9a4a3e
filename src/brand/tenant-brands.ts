import { Injectable } from '@nestjs/common';
import { BrandSettings } from '../mail/brand-settings';
import { Clock } from '../shared/clock';
import { SharedReading } from '../shared/shared-reading';
import { type Brand, defaultBrand } from './brand.entity';
import { shownPath } from './brand-rules';
import { Brands } from './brands.repository';

/** A change on another replica is seen after this time. */
export const brandFreshForMs = 5_000;
const mostTenants = 500;

/** What pages and mails show: of the tenant, of the default, or of the environment. */
export interface ShownBrand {
  readonly name: string | null;
  readonly color: string;
  readonly logoUrl: string | null;
  readonly logoDarkUrl: string | null;
  readonly faviconUrl: string | null;
  readonly tagline: string | null;
  readonly supportUrl: string | null;
  readonly privacyUrl: string | null;
  readonly imprintUrl: string | null;
}

/**
 * The brands, for what everybody may ask without a token. A brand is read again after five seconds at the earliest, and the
 * number of brands in memory has a bound. While the database does not answer, the brand that was read last is shown.
 */
@Injectable()
export class TenantBrands {
  private readonly readings = new Map<string, SharedReading<Brand | null>>();
  private ofTenants: SharedReading<boolean>;

  constructor(
    private readonly brands: Brands,
    private readonly settings: BrandSettings,
    private readonly clock: Clock,
  ) {
    this.ofTenants = this.readingOf(() => this.brands.anyOfTenant(), false);
  }

  /** The default for an unknown tenant, and for one without a brand of its own. */
  async shown(tenantId?: string): Promise<ShownBrand> {
    const [own, base] = await Promise.all([this.own(tenantId), this.own(defaultBrand)]);
    return shownBrand([own, base], this.settings);
  }

  /** What a field shows that the tenant does not set; for the default, that of the environment. */
  async inherited(tenantId: string): Promise<ShownBrand> {
    return shownBrand([tenantId === defaultBrand ? null : await this.own(defaultBrand)], this.settings);
  }

  /** The row itself, of the tenant alone. */
  async own(tenantId: string | undefined): Promise<Brand | null> {
    // Ids have this form (`assertEntryId`). Anything else costs no statement.
    if (tenantId === undefined || !/^([\w.-]{1,64}|\*)$/.test(tenantId)) return null;
    const reading = this.readings.get(tenantId) ?? this.readingOf(() => this.brands.find(tenantId), null);
    // The one that was asked for last is the last one to go.
    this.readings.delete(tenantId);
    this.readings.set(tenantId, reading);
    if (this.readings.size > mostTenants) this.readings.delete(this.readings.keys().next().value!);
    return reading.value();
  }

  /** Whether any tenant has a brand. Where none has, nobody needs to know the tenant of a user. */
  anyOfTenant(): Promise<boolean> {
    return this.ofTenants.value();
  }

  /** After a change by this process, so that its administrator sees it at once. */
  forget(tenantId: string): void {
    this.readings.delete(tenantId);
    this.ofTenants = this.readingOf(() => this.brands.anyOfTenant(), false);
  }

  /** @param last what counts until something was read */
  private readingOf<T>(read: () => Promise<T>, last: T): SharedReading<T> {
    const take = async () => {
      try {
        last = await read();
      } catch {
        // An outage of the database is reported by what needs it.
      }
      return last;
    };
    return new SharedReading(take, () => true, this.clock, brandFreshForMs);
  }
}

/** The first brand that has a field gives it. The two logos belong together, so the first brand that has one of them gives both. */
function shownBrand(brands: readonly (Brand | null)[], env: BrandSettings): ShownBrand {
  const first = <Field extends keyof Brand>(field: Field) => brands.find((brand) => brand?.[field] != null)?.[field];
  const logos = brands.find((brand) => brand?.logoLight != null || brand?.logoDark != null);
  return {
    name: first('name') ?? env.name ?? null,
    color: first('color') ?? env.color,
    logoUrl: logos ? shownPath(logos.logoLight) : (env.logoUrl ?? null),
    logoDarkUrl: logos ? shownPath(logos.logoDark) : (env.logoDarkUrl ?? null),
    faviconUrl: shownPath(first('favicon')) ?? env.faviconUrl ?? null,
    tagline: first('tagline') ?? null,
    supportUrl: first('supportUrl') ?? env.supportUrl ?? null,
    privacyUrl: first('privacyUrl') ?? env.privacyUrl ?? null,
    imprintUrl: first('imprintUrl') ?? env.imprintUrl ?? null,
  };
}
