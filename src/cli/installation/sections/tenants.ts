import { operatorAuthority } from '../../../admin/authority';
import { assertEntryId, entryName } from '../../../admin/entries';
import type { Tenant, Tenants } from '../../../admin/tenants';
import { entriesOf } from '../entries';
import { checked, differing, made, type PlanInput, type Section, type Step } from '../section';
import { allOf } from '../stored';

const shape = { id: 'text', name: 'text' } as const;

export class TenantSection implements Section {
  readonly name = 'tenants';

  constructor(private readonly tenants: Tenants) {}

  async plan({ given, report, known }: PlanInput): Promise<Step[]> {
    const stored = new Map((await this.exported()).map((tenant) => [tenant.id, tenant]));
    for (const id of stored.keys()) known.tenants.add(id);
    const form = { shape, required: ['id', 'name'], keyOf: ({ id }: Tenant) => id };
    const steps: Step[] = [];
    for (const { at, given: tenant } of entriesOf<Tenant>(given, this.name, form, report)) {
      await checked(at, report, () => assertEntryId(tenant.id));
      await checked(at, report, () => entryName(tenant.name));
      known.tenants.add(tenant.id);
      const current = stored.get(tenant.id);
      const wanted = { id: tenant.id, name: tenant.name.trim() };
      const fields = current === undefined ? made(wanted) : differing(wanted, current);
      if (Object.keys(fields).length === 0) continue;
      const write = current === undefined ? 'create' : 'rename';
      steps.push({
        ...{ section: this.name, id: tenant.id, action: current === undefined ? 'create' : 'change', fields },
        apply: () => this.tenants[write](operatorAuthority, wanted),
      });
    }
    return steps;
  }

  async exported(): Promise<Tenant[]> {
    const all = await allOf((limit, after?: readonly [string]) => this.tenants.list(limit, after?.[0]));
    return all.map(({ id, name }) => ({ id, name }));
  }
}
