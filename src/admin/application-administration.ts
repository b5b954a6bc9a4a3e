import { Injectable } from '@nestjs/common';
import { ApplicationChanges } from '../applications/application-changes';
import type { Application, ApplicationType } from '../applications/application.entity';
import {
  type ApplicationFields,
  ApplicationProblem,
  checkedFields,
  definedOf,
  keepsSecret,
  newApplicationFields,
} from '../applications/application-rules';
import { anApplication, Applications } from '../applications/applications.repository';
import { ServiceSettings } from '../platform/config/service-settings';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { Groups } from '../groups/groups.repository';
import { SubjectIds } from '../users/subject-ids';
import { TenantRepository } from '../users/tenant.repository';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { EntryNotFound } from './entries';

const secretBytes = 32;
/** A week: two secrets work at once for at most so long. */
export const maxKeptSeconds = 604_800;

/** The secret cannot be read again. Null when the application keeps none. */
export interface WithSecret {
  readonly application: Application;
  readonly secret: string | null;
}

/** Applications (docs/spec/extensions.md#j): only administrators of the root tenant and operators reach this service. */
@Injectable()
export class ApplicationAdministration {
  constructor(
    private readonly applications: Applications,
    private readonly writes: ApplicationChanges,
    private readonly tenants: TenantRepository,
    private readonly groups: Groups,
    private readonly changes: AdminChanges,
    private readonly ids: SubjectIds,
    private readonly database: Database,
    private readonly settings: ServiceSettings,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  /** All of them, the newest first. */
  list(): Promise<Application[]> {
    return this.applications.list();
  }

  /** @throws EntryNotFound */
  async get(id: string): Promise<Application> {
    return found(id, await this.applications.find(id));
  }

  /**
   * Race: two creations with one chosen id. The primary key decides, and the loser gets an ApplicationProblem. So does
   * the loser against a user with this id (`SubjectIds`).
   * @param chosen by an operator whose file names the application (ADR 0045) @throws ApplicationProblem
   */
  async create(
    by: Authority,
    type: ApplicationType,
    given: Partial<ApplicationFields>,
    chosen: { readonly id?: string; readonly secret?: string } = {},
  ): Promise<WithSecret> {
    const stored = this.checked(type, newApplicationFields(type, given));
    const [id, { secret, secretHash }] = [chosen.id ?? this.random.uuid(), this.newSecret(chosen.secret)];
    const work = this.changes.makeWithIds(by, async ({ tx, record }) => {
      const other = await this.otherOwnerOf(id, tx);
      if (other !== undefined) throw problem('id', `is the id of ${other}`);
      await this.assertTenants(tx, stored.allowedTenants);
      await this.assertGroups(tx, stored.allowedGroups);
      await this.writes.insert(tx, {
        ...(stored as Required<typeof stored>),
        ...{ id, type, secretHash: keepsSecret(type) ? secretHash : null, oldSecretHash: null, oldSecretExpires: null },
      });
      // `endFormer` reads a whole table. An id that is made here belonged to no deleted application.
      if (chosen.id !== undefined) await this.writes.endFormer(tx, id);
      await record('APPLICATION_CREATED', { detail: { application: id, name: stored.name!, type } });
      return { application: found(id, await this.writes.read(tx, id)), secret: keepsSecret(type) ? secret : null };
    });
    return work.catch((error: unknown) => {
      throw isDuplicate(error) ? problem('id', 'is taken') : error;
    });
  }

  /** Who else has the id, which no new application then gets: `a user`. Undefined: nobody. */
  async otherOwnerOf(id: string, sql: Sql = this.database): Promise<string | undefined> {
    return (await this.ids.elsewhere(anApplication, [id], sql)).get(id);
  }

  /** @param given at least one field @throws EntryNotFound @throws ApplicationProblem */
  async change(by: Authority, id: string, given: Partial<ApplicationFields>): Promise<Application> {
    const { type } = await this.get(id);
    const stored = this.checked(type, given);
    return this.changes.make(by, async ({ tx, record }) => {
      await this.assertTenants(tx, stored.allowedTenants);
      await this.assertGroups(tx, stored.allowedGroups);
      if (!(await this.writes.change(tx, id, stored))) throw notFound(id);
      const fields = Object.keys(definedOf(given)).join(' ');
      const enabled: Record<string, boolean> = given.enabled === undefined ? {} : { enabled: given.enabled };
      await record('APPLICATION_CHANGED', { detail: { application: id, fields, ...enabled } });
      return found(id, await this.writes.read(tx, id));
    });
  }

  /**
   * @param keepSeconds how long the former secret works beside the new one
   * @param chosen the new secret; without it a random one
   * @throws EntryNotFound
   * @throws ApplicationProblem for an application without a secret, and when another rotation has won
   */
  async rotateSecret(by: Authority, id: string, keepSeconds: number, chosen?: string): Promise<WithSecret> {
    const { secret, secretHash } = this.newSecret(chosen);
    return this.changes.make(by, async ({ tx, record }) => {
      const read = found(id, await this.writes.read(tx, id));
      if (read.secretHash === null) throw problem('type', `is ${read.type}: such an application has no secret`);
      const keepUntil = keepSeconds === 0 ? null : this.clock.secondsFromNow(keepSeconds);
      if (!(await this.writes.rotateSecret(tx, read, { secretHash, keepUntil }))) {
        throw keepUntil === null
          ? problem('id', 'has got another secret a moment ago')
          : problem('keep_old_seconds', 'must be 0 while an earlier secret is kept: that one then ends now');
      }
      await record('APPLICATION_SECRET_ROTATED', { detail: { application: id, keep_old_seconds: keepSeconds } });
      return { application: found(id, await this.writes.read(tx, id)), secret };
    });
  }

  /** @throws EntryNotFound */
  async remove(by: Authority, id: string): Promise<void> {
    await this.changes.make(by, async ({ tx, record }) => {
      const { name } = found(id, await this.writes.read(tx, id));
      if (!(await this.writes.remove(tx, id))) throw notFound(id);
      // Later nobody can look up which application it was.
      await record('APPLICATION_DELETED', { detail: { application: id, name } });
    });
  }

  private checked(type: ApplicationType, given: Partial<ApplicationFields>) {
    return checkedFields(given, { type, production: this.settings.production });
  }

  /** No tenant is ever deleted, so what exists now goes on existing. */
  private async assertTenants(tx: Transaction, ids: readonly string[] = []): Promise<void> {
    const problems: Record<string, string[]> = {};
    for (const [i, id] of ids.entries()) {
      if (await this.tenants.exists(tx, id)) continue;
      problems[`allowed_tenants[${i}]`] = [`allowed_tenants[${i}] is not the id of a tenant`];
    }
    if (Object.keys(problems).length > 0) throw new ApplicationProblem(problems);
  }

  /** A group that is deleted later admits nobody any more (`admits`). */
  private async assertGroups(tx: Transaction, ids: readonly string[] = []): Promise<void> {
    const known = new Set((await this.groups.findAll(ids, tx)).map(({ id }) => id));
    const unknown = [...ids.entries()].filter(([, id]) => !known.has(id)).map(([i]) => `allowed_groups[${i}]`);
    if (unknown.length === 0) return;
    throw new ApplicationProblem(Object.fromEntries(unknown.map((at) => [at, [`${at} is not the id of a group`]])));
  }

  private newSecret(secret = this.random.bytes(secretBytes).toString('base64url')): {
    secret: string;
    secretHash: string;
  } {
    return { secret, secretHash: sha256Hex(secret) };
  }
}

/** @throws EntryNotFound */
function found(id: string, application: Application | null): Application {
  if (application === null) throw notFound(id);
  return application;
}

const notFound = (id: string) => new EntryNotFound(`there is no application ${JSON.stringify(id)}`);
const problem = (field: string, what: string) => new ApplicationProblem({ [field]: [`${field} ${what}`] });
