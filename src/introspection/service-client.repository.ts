import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import DataLoader from 'dataloader';
import { In, IsNull, MoreThan, type Repository } from 'typeorm';
import { AuditTrail } from '../audit/audit-trail';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { filledUp } from '../platform/database/statement-keys';
import { Clock } from '../shared/clock';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import { Random } from '../shared/random';
import { isUuid } from '../shared/uuid';
import { SubjectIds } from '../users/subject-ids';
import { assertTenant } from '../users/tenant.repository';
import { ServiceClient } from './service-client.entity';

const secretBytes = 32;
const maxName = 255;
/** How `SubjectIds` names the owner of this table. */
const aClient = 'a service client';

/** A client cannot be created or revoked as requested. The message tells the operator why. */
export class ServiceClientProblem extends Error {
  override readonly name = 'ServiceClientProblem';
}

/** What a service presents by HTTP Basic. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

/** What a new client of SCIM may reach. */
export interface ScimReach {
  /** The only tenant whose users and groups it reaches. Without one it reaches all. */
  readonly tenantId?: string;
}

/** A client of SCIM that has presented its token. */
export interface ScimClient extends ScimReach {
  readonly id: string;
}

/**
 * The services behind the portal that may ask about tokens (docs/spec/extensions.md#f), and the systems that provision users and
 * groups by SCIM (docs/spec/extensions.md#l). The credentials of the one are none of the other.
 */
@Injectable()
export class ServiceClients {
  /**
   * Questions of one turn of the event loop share a statement. Nothing is cached, so a revocation counts at once.
   * Anybody can ask with any number of made-up ids, and SQLite refuses a statement of more than 500 parts.
   */
  private readonly hashes = new DataLoader<string, string | undefined>((ids) => this.hashesOf(ids), {
    cache: false,
    maxBatchSize: 32,
    batchScheduleFn: setImmediate,
  });

  private readonly rows: EntityRows<ServiceClient>;

  constructor(
    @InjectRepository(ServiceClient) rows: Repository<ServiceClient>,
    private readonly database: Database,
    private readonly audit: AuditTrail,
    private readonly random: Random,
    private readonly clock: Clock,
    private readonly ids: SubjectIds,
  ) {
    this.rows = new EntityRows(rows, database);
    ids.register({
      what: aClient,
      held: async (given, sql) => (await this.rows.find({ id: In([...given]) }, {}, sql)).map(({ id }) => id),
    });
  }

  /**
   * @returns the id and the secret, which is stored as a hash only: nobody can read it again
   * @throws ServiceClientProblem for a name that cannot be shown in a list
   */
  create(name: string): Promise<ClientCredentials & { readonly name: string }> {
    return this.added(name, {}, {});
  }

  /**
   * @returns the id and the token, of which only a hash is stored: nobody can read it again
   * @throws ServiceClientProblem for a name that cannot be shown in a list @throws AccountProblem for an unknown tenant
   */
  async createScim(name: string, { tenantId }: ScimReach) {
    if (tenantId !== undefined) await assertTenant(this.database, tenantId);
    const reach = { tenant: tenantId ?? null };
    const { id, secret, ...client } = await this.added(name, { scim: true, tenantId }, { scim: true, ...reach });
    return { id, ...client, ...reach, token: `${id}.${secret}` };
  }

  private async added(
    name: string,
    columns: Partial<Pick<ServiceClient, 'scim' | 'tenantId'>>,
    detail: Readonly<Record<string, string | boolean | null>>,
  ): Promise<ClientCredentials & { readonly name: string }> {
    const label = name.trim();
    if (label === '' || label.length > maxName || !isPlainText(label)) {
      throw new ServiceClientProblem(`the name must have 1 to ${maxName} characters and ${plainTextRule}`);
    }
    const [id, secret] = [this.random.uuid(), this.random.bytes(secretBytes).toString('base64url')];
    await this.ids.serialise(async (tx) => {
      const other = (await this.ids.elsewhere(aClient, [id], tx)).get(id);
      if (other !== undefined) throw new ServiceClientProblem(`the new id is that of ${other}: try again`);
      await this.rows.insert(tx, {
        id,
        name: label,
        secretHash: sha256Hex(secret),
        createdAt: this.clock.now(),
        ...columns,
      });
      await this.audit.record(tx, 'SERVICE_CLIENT_CREATED', { detail: { client: id, name: label, ...detail } });
    });
    return { id, name: label, secret };
  }

  /** All clients, the oldest first, the revoked ones as well. */
  list(): Promise<ServiceClient[]> {
    return this.rows.find({ id: MoreThan('') }, { order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /**
   * Race: two operators revoke one client. The first UPDATE wins and writes the audit row. The other one matches no row.
   * @returns false when the client was revoked before
   * @throws ServiceClientProblem when there is no such client
   */
  async revoke(id: string): Promise<boolean> {
    if (!isUuid(id) || (await this.rows.count({ id })) === 0) {
      throw new ServiceClientProblem(`there is no client ${JSON.stringify(id)}`);
    }
    return this.database.transaction(async (tx) => {
      const won = await this.rows.won(tx, { id, revokedAt: IsNull() }, { revokedAt: this.clock.now() });
      if (won) await this.audit.record(tx, 'SERVICE_CLIENT_REVOKED', { detail: { client: id } });
      return won;
    });
  }

  async isGenuine({ id, secret }: ClientCredentials): Promise<boolean> {
    const stored = isUuid(id) ? await this.hashes.load(id) : undefined;
    const presented = Buffer.from(sha256Hex(secret));
    // An unknown client takes the same comparison as a wrong secret.
    return timingSafeEqual(presented, Buffer.from(stored ?? sha256Hex(''))) && stored !== undefined;
  }

  /** One statement for each request: a revocation counts at once. @returns undefined for a token that is not in use */
  async scimClient(token: string): Promise<ScimClient | undefined> {
    const [, id = '', secret = ''] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(token) ?? [];
    if (!isUuid(id)) return undefined;
    const client = await this.rows.findOne({ id, scim: true, revokedAt: IsNull() });
    // An unknown client takes the same comparison as a wrong secret.
    const genuine = timingSafeEqual(Buffer.from(sha256Hex(secret)), Buffer.from(client?.secretHash ?? sha256Hex('')));
    return client !== null && genuine ? { id, tenantId: client.tenantId ?? undefined } : undefined;
  }

  /**
   * The statement returns one row for each id, also for an unknown client. Otherwise the row that is missing would save a
   * tenth of a millisecond, and the time would tell unknown clients from wrong secrets.
   */
  private async hashesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    const wanted = filledUp([...new Set(ids)]);
    const one = (_id: string, n: number) =>
      `SELECT ${n} AS n, (SELECT secret_hash FROM service_clients WHERE id = ? AND scim = FALSE AND revoked_at IS NULL) AS hash`;
    const rows = await this.database.rows<{ n: number; hash: string | null }>(
      wanted.map(one).join(' UNION ALL '),
      wanted,
    );
    const found = new Map(rows.map(({ n, hash }) => [wanted[Number(n)], hash ?? undefined]));
    return ids.map((id) => found.get(id));
  }
}
