import { Injectable } from '@nestjs/common';
import { Groups } from '../groups/groups.repository';
import { IdentityProviderChanges } from '../identity-providers/identity-provider-changes';
import type { IdentityProvider } from '../identity-providers/identity-provider.entity';
import { IdentityProviders } from '../identity-providers/identity-providers.repository';
import { OfferedProviders } from '../identity-providers/offered-providers';
import { ProviderSecrets } from '../identity-providers/provider-secrets';
import { ServiceSettings } from '../platform/config/service-settings';
import type { Transaction } from '../platform/database/database';
import { TenantRepository } from '../users/tenant.repository';
import { UsersOfProviders } from '../users/users-of-providers';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { EntryNotFound } from './entries';
import {
  assertProviderId,
  type CheckedFields,
  checkedProviderFields,
  type ClaimNames,
  definedFields,
  newProviderFields,
  type ProviderFields,
  ProviderInUse,
  ProviderProblem,
  providerProblem,
} from './identity-provider-rules';
import { ProviderVerification } from './provider-verification';

/** The fields that decide how the provider is asked, and whether it can answer. */
const asked: readonly (keyof ProviderFields)[] = ['issuer', 'client_id', 'client_secret', 'scopes', 'acr_values'];

export interface ListedProvider {
  readonly provider: IdentityProvider;
  readonly boundUsers: number;
}

/** Identity providers (docs/spec/extensions.md#k): only administrators of the root tenant and operators reach this service. */
@Injectable()
export class IdentityProviderAdministration {
  constructor(
    private readonly providers: IdentityProviders,
    private readonly writes: IdentityProviderChanges,
    private readonly secrets: ProviderSecrets,
    private readonly verification: ProviderVerification,
    private readonly users: UsersOfProviders,
    private readonly groups: Groups,
    private readonly tenants: TenantRepository,
    private readonly changes: AdminChanges,
    private readonly settings: ServiceSettings,
    private readonly offered: OfferedProviders,
  ) {}

  /** All of them, in the order of their ids. */
  async list(): Promise<ListedProvider[]> {
    const counts = await this.users.counts();
    return (await this.providers.list()).map((provider) => ({
      ...{ provider, boundUsers: counts.get(provider.id) ?? 0 },
    }));
  }

  /** @throws EntryNotFound */
  async get(id: string): Promise<ListedProvider> {
    const provider = found(id, await this.providers.find(id));
    return { provider, boundUsers: await this.users.count(id) };
  }

  /** For the command line, which asks the provider as this service does. @throws EntryNotFound */
  async secretOf(id: string): Promise<string | null> {
    return this.secrets.open(found(id, await this.providers.find(id)));
  }

  /** Whether the provider has this secret already. @throws EntryNotFound */
  async hasSecret(id: string, secret: string | null): Promise<boolean> {
    try {
      return (await this.secretOf(id)) === secret;
    } catch (error) {
      if (error instanceof EntryNotFound) throw error;
      // A lost key of DATA_ENCRYPTION_KEY: the secret is written again.
      return false;
    }
  }

  /** @throws ProviderProblem */
  async create(by: Authority, id: string, given: Partial<ProviderFields>): Promise<ListedProvider> {
    assertProviderId(id);
    const fields = this.checked(newProviderFields(given)) as Required<CheckedFields>;
    await this.verification.assertUsable(fields);
    await this.changes.make(by, async ({ tx, record }) => {
      await this.assertPlace(tx, id, fields);
      const provider = {
        ...fields,
        id,
        claims: fields.claims as ClaimNames,
        clientSecret: this.sealed(fields) ?? null,
      };
      if (!(await this.writes.insert(tx, provider))) throw providerProblem('id', 'is taken');
      await record('IDENTITY_PROVIDER_CREATED', { detail: { provider: id, name: fields.name, issuer: fields.issuer } });
    });
    this.offered.forget();
    return this.get(id);
  }

  /**
   * Sessions of users of the provider go on, whatever changes. With another issuer and no secret for it the stored one is removed: an
   * administrator, who cannot read it, could otherwise have it sent to a server of their own. The operator of the command line has
   * the key that decrypts it.
   * @param given at least one field @throws EntryNotFound @throws ProviderProblem
   */
  async change(by: Authority, id: string, given: Partial<ProviderFields>): Promise<ListedProvider> {
    const { provider: before } = await this.get(id);
    const { claims, ...fields } = this.checked(given);
    const asks = given.enabled === true || asked.some((field) => given[field] !== undefined);
    // A provider that is away can be disabled and renamed.
    if (asks) {
      // A given secret replaces one that a lost key of DATA_ENCRYPTION_KEY has sealed, so that one is not opened.
      const { clientSecret = this.secrets.open(before) } = fields;
      await this.verification.assertUsable({ ...before, ...fields, clientSecret });
    }
    await this.changes.make(by, async ({ tx, record }) => {
      await this.assertPlace(tx, id, fields);
      const row = found(id, await this.writes.hold(tx, id));
      const moves = fields.issuer !== undefined && fields.issuer !== row.issuer;
      if (moves && (await this.users.any(tx, id))) {
        throw new ProviderInUse(
          'issuer',
          'cannot change while the provider has users: the issuer is part of who they are',
        );
      }
      const bringsSecret = fields.clientSecret !== undefined;
      const losesSecret = moves && by.actor !== undefined && !bringsSecret && row.clientSecret !== null;
      const secret = bringsSecret || losesSecret ? { clientSecret: this.sealed(fields) } : {};
      await this.writes.change(tx, id, {
        ...fields,
        ...secret,
        ...(claims && { claims: { ...row.claims, ...claims } }),
      });
      const enabled: Record<string, boolean> = given.enabled === undefined ? {} : { enabled: given.enabled };
      const removed: Record<string, boolean> = losesSecret ? { secret_removed: true } : {};
      const changed = Object.keys(definedFields(given)).join(' ');
      const detail = { provider: id, fields: changed, ...enabled, ...removed };
      await record('IDENTITY_PROVIDER_CHANGED', { detail });
    });
    this.offered.forget();
    return this.get(id);
  }

  /**
   * Its groups end with it, so that a later provider with the same id inherits none.
   * @throws EntryNotFound @throws ProviderInUse
   */
  async remove(by: Authority, id: string): Promise<void> {
    await this.changes.make(by, async (change) => {
      const { tx, record } = change;
      const { name, issuer } = found(id, await this.writes.hold(tx, id));
      if (await this.users.any(tx, id)) {
        throw new ProviderInUse('id', 'has users: give them another kind of sign-in or delete them, or disable it');
      }
      await this.groups.removeAllOf(change, { source: 'provider', ownerId: id });
      await this.writes.remove(tx, id);
      // Later nobody can look up which provider it was.
      await record('IDENTITY_PROVIDER_DELETED', { detail: { provider: id, name, issuer } });
    });
    this.offered.forget();
  }

  private checked(given: Partial<ProviderFields>): CheckedFields {
    return checkedProviderFields(given, this.settings);
  }

  private sealed({ clientSecret }: CheckedFields): string | null {
    return this.secrets.seal(clientSecret ?? null);
  }

  /**
   * Whether the tenant exists, and whether no other provider has one of the domains.
   * Race: two providers that are saved with one domain. The row of the root tenant is locked, so the second one reads the
   * domains after the commit of the first one, and is refused.
   */
  private async assertPlace(tx: Transaction, id: string, { tenantId, domains = [] }: CheckedFields): Promise<void> {
    if (tenantId !== undefined && !(await this.tenants.exists(tx, tenantId))) {
      throw providerProblem('tenant_id', 'is not the id of a tenant');
    }
    if (domains.length === 0) return;
    await this.tenants.holdRoot(tx);
    const others = (await this.writes.list(tx)).filter((one) => one.id !== id);
    const problems: Record<string, string[]> = {};
    for (const [i, domain] of domains.entries()) {
      const owner = others.find((one) => one.domains.includes(domain));
      if (owner !== undefined)
        problems[`domains[${i}]`] = [`domains[${i}] belongs to the identity provider ${owner.id}`];
    }
    if (Object.keys(problems).length > 0) throw new ProviderProblem(problems);
  }
}

/** @throws EntryNotFound */
function found(id: string, provider: IdentityProvider | null): IdentityProvider {
  if (provider !== null) return provider;
  throw new EntryNotFound(`there is no identity provider ${JSON.stringify(id)}`);
}
