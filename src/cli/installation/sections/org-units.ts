import { everyTenant } from '../../../admin/admin-scope';
import { operatorAuthority } from '../../../admin/authority';
import { assertEntryId, entryName } from '../../../admin/entries';
import type { OrgUnits } from '../../../admin/org-units';
import { entriesOf } from '../entries';
import { assertKnownTenant, checked, differing, made, type PlanInput, type Section, type Step } from '../section';
import { allOf } from '../stored';

interface Unit {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
}
const shape = { id: 'text', tenant_id: 'text', name: 'text' } as const;

export class OrgUnitSection implements Section {
  readonly name = 'org_units';

  constructor(private readonly units: OrgUnits) {}

  async plan({ given, report, known }: PlanInput): Promise<Step[]> {
    const stored = new Map((await this.exported()).map((unit) => [unit.id, unit]));
    const form = { shape, required: ['id', 'tenant_id', 'name'], keyOf: ({ id }: Unit) => id };
    const steps: Step[] = [];
    for (const { at, given: unit } of entriesOf<Unit>(given, this.name, form, report)) {
      await checked(at, report, () => assertEntryId(unit.id));
      await checked(at, report, () => entryName(unit.name));
      assertKnownTenant(unit.tenant_id, [...at, 'tenant_id'], known, report);
      const current = stored.get(unit.id);
      if (current !== undefined && current.tenant_id !== unit.tenant_id) {
        report([...at, 'tenant_id'], `is another one than that of the stored unit: a unit does not change its tenant`);
      }
      const { id, tenant_id: tenantId, name } = { ...unit, name: unit.name.trim() };
      const wanted = { id, tenant_id: tenantId, name };
      const fields = current === undefined ? made(wanted) : differing(wanted, current);
      if (Object.keys(fields).length === 0) continue;
      steps.push({
        ...{ section: this.name, id, action: current === undefined ? 'create' : 'change', fields },
        apply: () =>
          current === undefined
            ? this.units.create(operatorAuthority, { id, tenantId, name })
            : this.units.rename(operatorAuthority, { id, name }),
      });
    }
    return steps;
  }

  async exported(): Promise<Unit[]> {
    const scope = { tenantId: everyTenant } as const;
    const all = await allOf((limit, after?: readonly [string]) => this.units.list(scope, undefined, limit, after?.[0]));
    return all.map(({ id, tenantId, name }) => ({ id, tenant_id: tenantId, name }));
  }
}
