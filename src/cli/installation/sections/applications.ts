import type { ApplicationAdministration } from '../../../admin/application-administration';
import { applicationView } from '../../../admin/application-views';
import { operatorAuthority } from '../../../admin/authority';
import {
  type ApplicationFields,
  applicationTypes,
  checkedFields,
  keepsSecret,
  newApplicationFields,
} from '../../../applications/application-rules';
import type { Application, ApplicationType } from '../../../applications/application.entity';
import type { Groups } from '../../../groups/groups.repository';
import { sha256Hex } from '../../../platform/crypto/key-ring';
import { isUuid } from '../../../shared/uuid';
import { type Entry, entriesOf, type Shape } from '../entries';
import type { Path } from '../installation-file';
import {
  asStored,
  assertKnownTenant,
  changed,
  checked,
  differing,
  type FieldChange,
  made,
  notExported,
  type PlanInput,
  type Section,
  type Step,
} from '../section';
import { groupKey, groupText } from './groups';

type Given = Partial<ApplicationFields> & {
  readonly id: string;
  readonly type: ApplicationType;
  readonly client_secret?: string | null;
};

const shape = {
  ...{ id: 'text', name: 'text', type: 'text', client_secret: 'secret', redirect_uris: 'texts' },
  ...{ post_logout_redirect_uris: 'texts', backchannel_logout_uri: 'text or null', scopes: 'texts', audience: 'texts' },
  ...{ first_party: 'flag', allowed_tenants: 'texts', allowed_groups: 'texts', logo_url: 'text or null' },
  ...{ uri: 'text or null', enabled: 'flag' },
} as const satisfies Shape;

export class ApplicationSection implements Section {
  readonly name = 'applications';

  constructor(
    private readonly applications: ApplicationAdministration,
    private readonly groups: Groups,
    private readonly production: boolean,
  ) {}

  async plan(input: PlanInput): Promise<Step[]> {
    const rows = new Map((await this.applications.list()).map((row) => [row.id, row]));
    const form = { shape, required: ['id', 'name', 'type'], keyOf: ({ id }: Given) => id };
    const steps: Step[] = [];
    for (const { at, given } of entriesOf<Given>(input.given, this.name, form, input.report)) {
      const step = await this.step({ at, given: asStored(given, shape) }, rows.get(given.id), input);
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  async exported(): Promise<Record<string, unknown>[]> {
    const rows = (await this.applications.list()).sort((a, b) => (a.id < b.id ? -1 : 1));
    return Promise.all(rows.map((row) => this.view(row)));
  }

  private async view(row: Application): Promise<Record<string, unknown>> {
    const view: Readonly<Record<string, unknown>> = { ...applicationView(row) };
    const names = Object.keys(shape).filter((name) => name !== 'client_secret');
    return {
      ...Object.fromEntries(names.map((name) => [name, view[name]])),
      ...(keepsSecret(row.type) && { client_secret: notExported }),
      allowed_groups: await this.groupTexts(row.allowedGroups),
    };
  }

  /** A group that is gone keeps its id: without it, the application would be open to everybody. */
  private async groupTexts(ids: readonly string[]): Promise<string[]> {
    const found = new Map((await this.groups.findAll(ids)).map((group) => [group.id, group]));
    return ids.map((id) => {
      const group = found.get(id);
      return group === undefined ? id : groupText({ tenant_id: group.tenantId, name: group.name });
    });
  }

  private async step(
    { at, given }: Entry<Given>,
    row: Application | undefined,
    input: PlanInput,
  ): Promise<Step | undefined> {
    const { report, known } = input;
    const { id, type, client_secret: reference, ...fields } = given;
    if (!isUuid(id)) report([...at, 'id'], 'must be a UUID in lower case, such as uuidgen prints: it is the client_id');
    const other = row === undefined ? await this.applications.otherOwnerOf(id) : undefined;
    if (other !== undefined) report([...at, 'id'], `is the id of ${other}: take another one`);
    if (!applicationTypes.includes(type)) {
      report([...at, 'type'], `must be one of ${applicationTypes.join(', ')}`);
      return undefined;
    }
    if (row !== undefined && row.type !== type)
      report([...at, 'type'], `cannot change: the application is ${row.type}`);
    const place = { type, production: this.production };
    await checked(at, report, () =>
      checkedFields({ ...(row ? fields : newApplicationFields(type, fields)), allowed_groups: [] }, place),
    );
    fields.allowed_tenants?.forEach((tenant, i) =>
      assertKnownTenant(tenant, [...at, 'allowed_tenants', i], known, report),
    );
    const secret = this.secret(reference, { at: [...at, 'client_secret'], type, isNew: row === undefined }, input);
    const differences = await this.differences(given, row, secret);
    if (Object.keys(differences).length === 0) return undefined;
    if (differences.allowed_groups) this.assertGroups(fields.allowed_groups!, [...at, 'allowed_groups'], input);
    return {
      ...{ section: this.name, id, action: row === undefined ? 'create' : 'change', fields: differences },
      apply: () => this.applied(given, row, differences, secret),
    };
  }

  private secret(
    reference: string | null | undefined,
    { at, type, isNew }: { readonly at: Path; readonly type: ApplicationType; readonly isNew: boolean },
    { report, secrets }: PlanInput,
  ): string | undefined {
    if (!keepsSecret(type)) {
      if (reference !== undefined && reference !== null) report(at, `must not be given: ${type} has no secret`);
      return undefined;
    }
    if (reference === null || reference === undefined || reference === notExported) {
      if (isNew || reference === null) report(at, 'is required: give a reference such as ${ENV:NAME} or file:PATH');
      return undefined;
    }
    const secret = secrets.read(reference, at, report);
    // The stored hash is a fast one, so only a random secret is safe (ADR 0034).
    if (secret === undefined || /^[A-Za-z0-9_-]{43,128}$/.test(secret)) return secret;
    report(at, 'must name 43 to 128 letters, digits, - or _, as openssl rand -hex 32 prints');
    return undefined;
  }

  private async differences(
    given: Given,
    row: Application | undefined,
    secret: string | undefined,
  ): Promise<Record<string, FieldChange>> {
    const { type, ...fields } = fieldsOf(given);
    if (row === undefined) {
      return {
        ...made({ type, ...fields }),
        ...(secret !== undefined && { client_secret: changed(null, secret, true) }),
      };
    }
    const another = secret !== undefined && sha256Hex(secret) !== row.secretHash;
    const { allowed_groups: groups, ...rest } = fields;
    const stored = await this.view(row);
    const asKeys = (texts: unknown) => JSON.stringify((texts as string[]).map(groupKey).sort());
    const sameGroups = groups === undefined || asKeys(groups) === asKeys(stored.allowed_groups);
    return {
      ...differing(rest, stored),
      ...(!sameGroups && { allowed_groups: changed(stored.allowed_groups, groups) }),
      ...(another && { client_secret: changed(notExported, secret, true) }),
    };
  }

  private assertGroups(texts: readonly string[], at: Path, { known, report }: PlanInput): void {
    texts.forEach((text, i) => {
      if (!known.groups.has(groupKey(text)))
        report([...at, i], 'is no group: give its tenant and name, as in acme/Sales');
    });
  }

  private async applied(
    { id, ...entry }: Given,
    row: Application | undefined,
    differences: Record<string, FieldChange>,
    secret: string | undefined,
  ): Promise<void> {
    const { type, ...given } = fieldsOf({ id, ...entry });
    const names = Object.keys(differences).filter((name) => !['client_secret', 'type'].includes(name));
    const fields: Record<string, unknown> = row
      ? Object.fromEntries(names.map((name) => [name, given[name as keyof typeof given]]))
      : { ...given };
    if (fields.allowed_groups !== undefined) fields.allowed_groups = await this.groupIds(given.allowed_groups!);
    if (row === undefined) {
      await this.applications.create(operatorAuthority, type, fields, { id, secret });
      return;
    }
    if (names.length > 0) await this.applications.change(operatorAuthority, id, fields);
    if (differences.client_secret) await this.applications.rotateSecret(operatorAuthority, id, 0, secret);
  }

  private async groupIds(texts: readonly string[]): Promise<string[]> {
    const found = texts.map((text) => {
      const slash = text.indexOf('/');
      return this.groups.findByName(text.slice(0, slash), text.slice(slash + 1));
    });
    // A group that was deleted a moment ago gets the refusal of the use case, which names it.
    return (await Promise.all(found)).map((group, i) => group?.id ?? texts[i]!);
  }
}

/** Without the id, which names the application, and the reference, which is no field of it. */
function fieldsOf(given: Given): Partial<ApplicationFields> & { readonly type: ApplicationType } {
  const fields: Partial<Given> & { readonly type: ApplicationType } = { ...given };
  for (const name of ['id', 'client_secret'] as const) delete (fields as Record<string, unknown>)[name];
  return fields;
}
