import { operatorAuthority } from '../../../admin/authority';
import type { BrandAdministration } from '../../../admin/brand-administration';
import { type Brand, defaultBrand, imageFields } from '../../../brand/brand.entity';
import {
  changeOf,
  checkedBrand,
  type GivenBrand,
  largestImageBytes,
  typeOfImage,
  wireNames,
} from '../../../brand/brand-rules';
import { type Entry, entriesOf, type Shape } from '../entries';
import {
  assertKnownTenant,
  checked,
  differing,
  notExported,
  type PlanInput,
  type Section,
  type Step,
} from '../section';

type Given = GivenBrand & { readonly tenant_id?: string | null };

const shape = {
  ...{ tenant_id: 'text or null', name: 'text or null', color: 'text or null', tagline: 'text or null' },
  ...{ logo_light: 'text or null', logo_dark: 'text or null', favicon: 'text or null' },
  ...{ support_url: 'text or null', privacy_url: 'text or null', imprint_url: 'text or null' },
} as const satisfies Shape;

/** Without `tenant_id` it is the default. An image is a file beside the file: many of them would make it too large to read. */
export class BrandSection implements Section {
  readonly name = 'brand';

  constructor(private readonly brands: BrandAdministration) {}

  async plan(input: PlanInput): Promise<Step[]> {
    const stored = new Map((await this.brands.list()).map((row) => [row.tenantId, row]));
    const form = { shape, required: [], keyOf: ({ tenant_id: tenant }: Given) => tenant ?? defaultBrand };
    const steps: Step[] = [];
    for (const entry of entriesOf<Given>(input.given, this.name, form, input.report)) {
      const step = await this.step(entry, stored.get(entry.given.tenant_id ?? defaultBrand) ?? null, input);
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  async exported(): Promise<Given[]> {
    return (await this.brands.list()).map((row) => ({
      tenant_id: row.tenantId === defaultBrand ? null : row.tenantId,
      ...onWire(row),
      ...Object.fromEntries(
        imageFields.map((field) => [wireNames[field], row[field] === null ? null : notExported] as const),
      ),
    }));
  }

  private async step(
    { at, given: { tenant_id: tenant, ...fields } }: Entry<Given>,
    current: Brand | null,
    { report, known, secrets }: PlanInput,
  ): Promise<Step | undefined> {
    if (tenant != null) assertKnownTenant(tenant, [...at, 'tenant_id'], known, report);
    const given: Record<string, string | null | undefined> = { ...fields };
    for (const field of imageFields) {
      const name = wireNames[field];
      const image = given[name];
      if (image == null) continue;
      delete given[name];
      const path = /^file:(.+\.(?:png|webp|svg))$/s.exec(image)?.[1];
      if (path !== undefined) {
        const content = secrets.readFile(path, largestImageBytes, [...at, name], report);
        if (content !== undefined) given[name] = `data:${typeOfImage(path)};base64,${content.toString('base64')}`;
      } else if (image !== notExported) report([...at, name], 'must be file:PATH of a png, webp or svg file, or null');
      else if (current?.[field] == null) report([...at, name], 'is not in the file: give file:PATH, or null');
    }
    const change = changeOf(given);
    let wanted: object | undefined;
    await checked(at, report, () => (wanted = checkedBrand(change, current).values));
    const differences = wanted === undefined ? {} : differing(onWire(wanted), current === null ? {} : onWire(current));
    if (Object.keys(differences).length === 0) return undefined;
    const changed = Object.fromEntries(Object.keys(differences).map((name) => [name, given[name]]));
    return {
      ...{ section: this.name, id: tenant ?? 'default', action: current === null ? 'create' : 'change' },
      fields: differences,
      apply: () => this.brands.set(operatorAuthority, tenant ?? undefined, changeOf(changed)),
    };
  }
}

/** By the names on the wire. An image is the name of its file, which is the hash of its content. */
const onWire = (values: Partial<Brand>): GivenBrand =>
  Object.fromEntries(Object.entries(wireNames).map(([field, name]) => [name, values[field as keyof typeof wireNames]]));
