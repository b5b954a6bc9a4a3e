import { ProviderProblem } from '../../admin/identity-provider-rules';
import { ApplicationProblem } from '../../applications/application-rules';
import { ReceiverProblem } from '../../admin/event-receiver-rules';
import { EntryProblem } from '../../admin/entries';
import { BrandProblem } from '../../brand/brand-rules';
import { SettingProblem } from '../../admin/known-settings';
import { GroupProblem } from '../../groups/group-problem';
import type { Shape } from './entries';
import type { Path, Report } from './installation-file';
import type { SecretReferences } from './secret-references';

/** What a field was and will be. A secret is never shown. */
export interface FieldChange {
  readonly from: unknown;
  readonly to: unknown;
}

/** One change of one object: one use case of the administration, with its own transaction and audit row. */
export interface Step {
  readonly section: string;
  readonly id: string;
  readonly action: 'create' | 'change' | 'remove';
  readonly fields: Readonly<Record<string, FieldChange>>;
  readonly note?: string;
  readonly apply: () => Promise<unknown>;
}

/** What the sections before have found: sections name objects of each other. */
export interface Known {
  readonly tenants: Set<string>;
  /** `groupKey` of each group of the file. */
  readonly groups: Set<string>;
}

export interface PlanInput {
  /** What the file has under the name of the section. */
  readonly given: unknown;
  readonly report: Report;
  readonly secrets: SecretReferences;
  readonly known: Known;
}

/**
 * One part of the file. A further section is one more file in `sections/`, and one more line in `sections/all-sections.ts`: the
 * order there is the order in which they are applied and exported.
 */
export interface Section {
  readonly name: string;
  /** Reports everything that is wrong, and returns what differs from the database. Writes nothing. */
  plan(input: PlanInput): Promise<Step[]>;
  /** What `plan` would find no difference in. Never a secret. */
  exported(): Promise<unknown>;
}

/** In an export in the place of a secret. In a file: the stored secret stays. */
export const notExported = '(not exported)';
const hidden = '(secret)';

/** @param secret whether the values are hidden */
export const changed = (from: unknown, to: unknown, secret = false): FieldChange =>
  secret ? { from: from === null ? null : hidden, to: to === null ? null : hidden } : { from, to };

/**
 * The fields as the use cases of the administration store them: an empty text clears a field, as in a form, and a name has no spaces at its
 * ends. Otherwise such a field would differ from the stored one at each `apply`.
 */
export const asStored = <T extends object>(given: T, shape: Shape): T =>
  Object.fromEntries(
    Object.entries(given).map(([field, value]: [string, unknown]) => {
      if (shape[field] === 'text or null') return [field, value === '' ? null : value];
      return [field, field === 'name' && typeof value === 'string' ? value.trim() : value];
    }),
  ) as T;

/** The fields whose value differs. A field that is not given stays as it is. */
export function differing(given: object, stored: object): Record<string, FieldChange> {
  const current = stored as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(given)
      .filter(([name, to]) => to !== undefined && JSON.stringify(to) !== JSON.stringify(current[name] ?? null))
      .map(([name, to]) => [name, changed(current[name] ?? null, to)]),
  );
}

/** All fields of an object that is made. */
export const made = (given: object): Record<string, FieldChange> => differing(given, {});

/** Reports the problem of a rule at the field that it names. @throws what is no such problem */
export async function checked(at: Path, report: Report, rule: () => unknown): Promise<void> {
  try {
    await rule();
  } catch (error) {
    const fields = fieldsOf(error);
    if (fields === undefined) throw error;
    for (const [field, problems] of Object.entries(fields)) {
      for (const problem of problems) report([...at, ...pathOf(field)], withoutField(problem, field));
    }
  }
}

/** Undefined for an error that is no problem of what was given. */
function fieldsOf(error: unknown): Readonly<Record<string, readonly string[]>> | undefined {
  if (error instanceof ApplicationProblem || error instanceof ProviderProblem || error instanceof BrandProblem)
    return error.fields;
  if (error instanceof ReceiverProblem) return error.fields;
  if (error instanceof EntryProblem) return { [error.field]: [error.message] };
  if (error instanceof GroupProblem) return { name: [error.message] };
  return error instanceof SettingProblem ? { '': [error.message] } : undefined;
}

/** `redirect_uris[1]` and `claims.email` as a path. */
const pathOf = (field: string): Path =>
  field
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** The path stands before the sentence already. */
const withoutField = (problem: string, field: string): string =>
  field !== '' && problem.startsWith(`${field} `) ? problem.slice(field.length + 1) : problem;

/** Reports a tenant that neither the file nor the database has. */
export function assertKnownTenant(id: string, at: Path, { tenants }: Known, report: Report): void {
  if (!tenants.has(id)) report(at, 'is not the id of a tenant');
}
