import { operatorAuthority } from '../../../admin/authority';
import type { GroupAdministration } from '../../../admin/group-administration';
import { groupName } from '../../../groups/group-change';
import type { GroupPlace } from '../../../groups/group-listing';
import type { Group } from '../../../groups/groups.repository';
import { identityKey } from '../../../shared/identity-key';
import { entriesOf } from '../entries';
import { assertKnownTenant, checked, differing, made, type PlanInput, type Section, type Step } from '../section';
import { allOf } from '../stored';

interface NamedGroup {
  readonly tenant_id: string;
  readonly name: string;
}
const shape = { tenant_id: 'text', name: 'text' } as const;

/** How an application names a group. No id of a tenant has a slash. */
export const groupText = ({ tenant_id: tenant, name }: NamedGroup): string => `${tenant}/${name}`;

/** Two groups of a tenant whose names differ in their case only are one. */
export function groupKey(text: string): string {
  const slash = text.indexOf('/');
  return slash < 0 ? text : `${text.slice(0, slash)}/${identityKey(text.slice(slash + 1))}`;
}

/** Groups of administrators, without their members. Those of SCIM, a directory and a provider come from there. */
export class GroupSection implements Section {
  readonly name = 'groups';

  constructor(private readonly groups: GroupAdministration) {}

  async plan({ given, report, known }: PlanInput): Promise<Step[]> {
    const stored = new Map((await this.all()).map((group) => [groupKey(groupText(nameOf(group))), group]));
    for (const key of stored.keys()) known.groups.add(key);
    const form = {
      ...{ shape, required: ['tenant_id', 'name'] },
      keyOf: (group: NamedGroup) => groupKey(groupText(group)),
    };
    const steps: Step[] = [];
    for (const { at, given: group } of entriesOf<NamedGroup>(given, this.name, form, report)) {
      await checked(at, report, () => groupName(group.name));
      assertKnownTenant(group.tenant_id, [...at, 'tenant_id'], known, report);
      const [wanted, key] = [{ tenant_id: group.tenant_id, name: group.name.trim() }, groupKey(groupText(group))];
      known.groups.add(key);
      const current = stored.get(key);
      const fields = current === undefined ? made(wanted) : differing(wanted, nameOf(current));
      // A group of another source has the name that its source gives it.
      if (Object.keys(fields).length === 0 || (current !== undefined && current.source !== 'admin')) continue;
      steps.push({
        ...{ section: this.name, id: groupText(wanted), action: current === undefined ? 'create' : 'change', fields },
        apply: () =>
          current === undefined
            ? this.groups.create(operatorAuthority, wanted.tenant_id, wanted.name)
            : this.groups.rename(operatorAuthority, current.id, wanted.name),
      });
    }
    return steps;
  }

  async exported(): Promise<NamedGroup[]> {
    return (await this.all()).filter(({ source }) => source === 'admin').map(nameOf);
  }

  private all(): Promise<Group[]> {
    return allOf((limit, after?: GroupPlace) => this.groups.page(operatorAuthority, {}, limit, after));
  }
}

const nameOf = ({ tenantId, name }: Group): NamedGroup => ({ tenant_id: tenantId, name });
