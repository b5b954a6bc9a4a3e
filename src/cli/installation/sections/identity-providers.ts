import { operatorAuthority } from '../../../admin/authority';
import type { IdentityProviderAdministration } from '../../../admin/identity-provider-administration';
import {
  assertProviderId,
  checkedProviderFields,
  newProviderFields,
  normalDomain,
  type ProviderFields,
} from '../../../admin/identity-provider-rules';
import { providerView } from '../../../admin/identity-provider-views';
import type { ProviderVerification } from '../../../admin/provider-verification';
import type { ProviderAddresses } from '../../../identity-providers/provider-addresses';
import { type Entry, entriesOf, isObject, type Shape } from '../entries';
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
import { givingFirst, reportDoubleDomains } from './provider-domains';

type Provider = Partial<ProviderFields> & { readonly id: string };

const shape = {
  ...{ id: 'text', name: 'text', issuer: 'text', client_id: 'text', client_secret: 'secret' },
  ...{ client_secret_expires: 'text or null', scopes: 'texts', acr_values: 'texts', domains: 'texts' },
  ...{ tenant_id: 'text', jit: 'flag', trust_mfa: 'flag', claims: 'any', match_claim: 'text or null' },
  ...{ listed: 'flag', enabled: 'flag' },
} as const satisfies Shape;

/** What the provider is asked with. A change of it is tried before anything is written. */
const asked: readonly string[] = ['issuer', 'client_id', 'client_secret', 'scopes', 'acr_values'];

export class IdentityProviderSection implements Section {
  readonly name = 'identity_providers';

  constructor(
    private readonly providers: IdentityProviderAdministration,
    private readonly verification: ProviderVerification,
    private readonly addresses: ProviderAddresses,
    private readonly production: boolean,
  ) {}

  async plan(input: PlanInput): Promise<Step[]> {
    const stored = new Map((await this.exported()).map((provider) => [provider.id, provider]));
    const form = {
      ...{ shape, required: ['id', 'name', 'issuer', 'client_id'] },
      keyOf: ({ id }: Provider) => id,
    };
    const entries = entriesOf<Provider>(input.given, this.name, form, input.report);
    reportDoubleDomains(entries, stored, input.report);
    const steps: Step[] = [];
    for (const entry of entries) {
      const step = await this.step(entry, stored.get(entry.given.id), input);
      if (step !== undefined) steps.push(step);
    }
    return givingFirst(steps);
  }

  async exported() {
    return (await this.providers.list()).map((row) => {
      const view = providerView(row, this.addresses);
      const fields = Object.fromEntries(Object.keys(shape).map((name) => [name, view[name as keyof typeof view]]));
      const { id, domains, has_client_secret: hasSecret } = view;
      return { ...fields, id, domains, client_secret: hasSecret ? notExported : null };
    });
  }

  private async step(
    { at, given: { id, ...given } }: Entry<Provider>,
    current: (object & { readonly client_secret: string | null }) | undefined,
    input: PlanInput,
  ): Promise<Step | undefined> {
    const { report, known, secrets } = input;
    if (given.claims !== undefined && !isObject(given.claims)) {
      report([...at, 'claims'], 'must have members such as email');
      return undefined;
    }
    const fields: Record<string, unknown> = inStoredForm(given);
    // A secret that cannot be read is a fault already, and the other fields can still be judged.
    const reference = given.client_secret;
    delete fields.client_secret;
    if (reference === null) fields.client_secret = null;
    else if (reference !== undefined && reference !== notExported) {
      const secret = secrets.read(reference, [...at, 'client_secret'], report);
      if (secret !== undefined) fields.client_secret = secret;
    } else if (reference === notExported && current?.client_secret !== notExported) {
      report(
        [...at, 'client_secret'],
        'is not in the file: give a reference such as ${ENV:NAME} or file:PATH, or null',
      );
    }
    await checked(at, report, () => assertProviderId(id));
    await checked(at, report, () =>
      checkedProviderFields(current ? fields : newProviderFields(fields), { production: this.production }),
    );
    if (given.tenant_id !== undefined) assertKnownTenant(given.tenant_id, [...at, 'tenant_id'], known, report);
    const differences = await this.differences(id, fields, current);
    if (Object.keys(differences).length === 0) return undefined;
    if (differences.issuer && current?.client_secret === notExported && fields.client_secret === undefined) {
      report([...at, 'issuer'], 'cannot change without client_secret: the stored secret would go to another server');
      return undefined;
    }
    const change = Object.fromEntries(Object.keys(differences).map((name) => [name, fields[name]]));
    if (current === undefined || Object.keys(differences).some((name) => asked.includes(name))) {
      await checked(at, report, () => this.tried(id, fields, current));
    }
    return {
      ...{ section: this.name, id, action: current === undefined ? 'create' : 'change', fields: differences },
      ...(current !== undefined && change.enabled === false && { note: await this.closes(id) }),
      apply: () =>
        current === undefined
          ? this.providers.create(operatorAuthority, id, fields)
          : this.providers.change(operatorAuthority, id, change),
    };
  }

  private async differences(
    id: string,
    fields: Record<string, unknown>,
    current: object | undefined,
  ): Promise<Record<string, FieldChange>> {
    const { client_secret: secret, claims, ...plain } = fields;
    const stored = (current ?? {}) as { readonly claims?: object; readonly client_secret?: string | null };
    const same =
      secret === undefined || (current !== undefined && (await this.providers.hasSecret(id, secret as string)));
    const ofClaims = !isObject(claims) ? {} : differing(claims, stored.claims ?? {});
    return {
      ...(current === undefined ? made(plain) : differing(normalised(plain), normalised(current))),
      ...(Object.keys(ofClaims).length > 0 && {
        claims: changed(stored.claims ?? null, { ...stored.claims, ...(claims as object) }),
      }),
      ...(!same && { client_secret: changed(stored.client_secret ?? null, secret, true) }),
    };
  }

  /** The provider must answer before the first object of the file is written. */
  private async tried(id: string, fields: Record<string, unknown>, current: object | undefined): Promise<void> {
    const { issuer, client_id: clientId } = { ...current, ...fields } as unknown as ProviderFields;
    const known = fields.client_secret === undefined && current !== undefined;
    const clientSecret = known ? await this.providers.secretOf(id) : ((fields.client_secret as string) ?? null);
    await this.verification.assertUsable({ issuer, clientId, clientSecret });
  }

  private async closes(id: string): Promise<string | undefined> {
    const { boundUsers } = await this.providers.get(id);
    return boundUsers === 0 ? undefined : `${boundUsers} users sign in there, and cannot while it is disabled`;
  }
}

/** The form of a domain and of a claim is that of `checkedProviderFields`. */
function inStoredForm({ claims, domains, ...given }: Omit<Provider, 'id'>): Record<string, unknown> {
  const cleared = ([member, value]: [string, unknown]) => [member, value === '' ? null : value];
  return {
    ...asStored(given, shape),
    ...(domains && { domains: domains.map(normalDomain) }),
    ...(claims && { claims: Object.fromEntries(Object.entries(claims).map(cleared)) }),
  };
}

/** A time may be written in several ways. */
function normalised(fields: object): Record<string, unknown> {
  const { client_secret_expires: time, ...rest } = fields as Record<string, unknown>;
  if (time === undefined) return rest;
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return { ...rest, client_secret_expires: Number.isNaN(ms) ? time : new Date(ms).toISOString() };
}
