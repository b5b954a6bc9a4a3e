import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, type Repository } from 'typeorm';
import { KeyRing } from '../../platform/crypto/key-ring';
import { Database } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { Clock } from '../../shared/clock';
import { Application } from '../application.entity';
import { OidcRecord } from './oidc-record.entity';
import { RecordInsertions } from './record-insertions';
import { type RecordInContext, RecordLookups } from './record-lookups';

export type { ProviderUser } from './record-lookups';

/** The purpose of the sealed payloads and of the keyed hashes. */
export const recordPurpose = 'oidc-record';

/** A record is found by this hash of its id. */
export const hashOfRecord = (keys: KeyRing, kind: string, id: string): string =>
  keys.mac(recordPurpose, `${kind}:${id}`);

/** What a record is about. The ids of the protocol are given as they are, and stored as keyed hashes. */
export interface RecordFacts {
  readonly applicationId?: string | null;
  readonly userId?: string | null;
  readonly sid?: string | null;
  readonly credentialVersion?: number | null;
  readonly grantId?: string;
  readonly uid?: string;
  readonly userCode?: string;
  readonly expires: Date | null;
}

/** The package stores a record of these kinds once and never changes its payload. */
const storedOnce = ['AccessToken', 'RefreshToken', 'AuthorizationCode', 'ClientCredentials'];

/** The records of an application that live without another record of it. A code or token without its grant is refused. */
const decisive = ['Grant', 'ClientCredentials', 'DeviceCode', 'PushedAuthorizationRequest'];
const endedAtOnce = 1000;

export type Payload = Readonly<Record<string, unknown>>;

export interface FoundRecord extends Pick<
  OidcRecord,
  'idHash' | 'kind' | 'applicationId' | 'sid' | 'userId' | 'credentialVersion' | 'consumedAt' | 'createdAt'
> {
  readonly payload: Payload;
}

/** A record that was found together with what it depends on (`RecordLookups`). */
export interface FoundInContext extends Omit<RecordInContext, 'record' | 'grant'> {
  readonly record: FoundRecord;
  readonly grant: FoundRecord | undefined;
}

/**
 * The table `oidc_records`. Whoever holds the id of a record may use it, so the table has only keyed hashes of ids, and
 * the payload, which names other records, is sealed: a copy of the database works nowhere.
 */
@Injectable()
export class OidcRecords {
  private readonly rows: EntityRows<OidcRecord>;
  private readonly lookups: RecordLookups;
  private readonly insertions: RecordInsertions;

  constructor(
    @InjectRepository(OidcRecord) rows: Repository<OidcRecord>,
    @InjectRepository(Application) applications: Repository<Application>,
    private readonly database: Database,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
    const tables = { database, records: this.rows, applications: new EntityRows(applications, database), clock };
    this.lookups = new RecordLookups(tables);
    this.insertions = new RecordInsertions(database);
  }

  /** Stores a record, or what has changed of it. It never brings back what `consume` has used. */
  async put(kind: string, id: string, payload: Payload, facts: RecordFacts): Promise<void> {
    const { applicationId = null, userId = null, sid = null, credentialVersion = null, expires } = facts;
    const idHash = hashOfRecord(this.keys, kind, id);
    const change = {
      // A record of before a rotation of the keys is found by the former hash, and gets the present one.
      idHash,
      payload: this.keys.seal(recordPurpose, JSON.stringify(payload)),
      grantHash: this.hashOf('Grant', facts.grantId),
      uidHash: this.hashOf('uid', facts.uid),
      userCodeHash: this.hashOf('user-code', facts.userCode),
      ...{ applicationId, userId, sid, credentialVersion, expires },
    };
    const row = { kind, ...change, createdAt: this.clock.now() };
    if (storedOnce.includes(kind) && (await this.insertions.add(row))) return;
    if ((await this.rows.update(this.database, this.byId(kind, id), change)) > 0) return;
    await this.rows.insert(this.database, row);
  }

  /**
   * Uses an id once.
   * Race: the same id on two replicas. The first INSERT takes the primary key and wins; the other one meets the duplicate.
   * While the keys are rotated, two replicas have lists with at least one common key, so each key of the list gets a row. The rows are
   * in the order of their keys: two replicas with the same keys compete for the same first row.
   * @returns false when it was used before
   */
  async useOnce(kind: string, id: string, expires: Date): Promise<boolean> {
    for (const idHash of this.hashesOf(kind, id).sort()) {
      const row = { idHash, kind, payload: '', expires, createdAt: this.clock.now() };
      if (!(await this.rows.added(this.database, row))) return false;
    }
    return true;
  }

  find(kind: string, id: string): Promise<FoundRecord | undefined> {
    return this.found({ ...this.byId(kind, id), expires: this.unexpired() });
  }

  /** Also a record that has expired, until retention removes its row. */
  findAlsoExpired(kind: string, id: string): Promise<FoundRecord | undefined> {
    return this.found(this.byId(kind, id));
  }

  /**
   * Like `find`, with what the record depends on, in the same statement. A grant that was stored under another key than the
   * record does not come with it.
   */
  async findInContext(kind: string, id: string): Promise<FoundInContext | undefined> {
    const all = await Promise.all(this.hashesOf(kind, id).map((hash) => this.lookups.find(hash)));
    const found = all.find((one) => one !== undefined);
    if (found === undefined) return undefined;
    const record = this.opened(found.record);
    const { user, application, sessionLives } = found;
    const grant = found.grant && this.opened(found.grant);
    return record?.kind === kind ? { record, grant, user, application, sessionLives } : undefined;
  }

  findByUid(kind: string, uid: string): Promise<FoundRecord | undefined> {
    return this.found({ kind, uidHash: In(this.hashesOf('uid', uid)), expires: this.unexpired() });
  }

  findByUserCode(kind: string, userCode: string): Promise<FoundRecord | undefined> {
    return this.found({ kind, userCodeHash: In(this.hashesOf('user-code', userCode)), expires: this.unexpired() });
  }

  /** The newest grant of a user for an application. */
  async findGrant(userId: string, applicationId: string, credentialVersion: number): Promise<FoundRecord | undefined> {
    return this.found({ kind: 'Grant', userId, applicationId, credentialVersion, expires: this.unexpired() });
  }

  /** The grants of a user that still count, the newest first. A person has a few. */
  async grantsOf(userId: string, credentialVersion: number): Promise<FoundRecord[]> {
    const where = { kind: 'Grant', userId, credentialVersion, expires: this.unexpired() };
    const rows = await this.rows.find(where, { order: { createdAt: 'DESC', idHash: 'ASC' }, limit: 1000 });
    return rows.flatMap((row) => this.opened(row) ?? []);
  }

  /**
   * Race: one code, refresh token, device code or pushed request that is presented twice, on any replica. The first UPDATE
   * wins. The other one matches no row: its caller was late, and must treat the use as a second one.
   */
  consume(kind: string, id: string): Promise<boolean> {
    const hashes = this.hashesOf(kind, id);
    return this.database.won(
      `UPDATE oidc_records SET consumed_at = ? WHERE id_hash IN (${hashes.map(() => '?').join(', ')}) AND kind = ? AND consumed_at IS NULL`,
      [this.clock.now(), ...hashes, kind],
    );
  }

  async remove(kind: string, id: string): Promise<void> {
    await this.rows.remove(this.database, this.byId(kind, id));
  }

  /** Ends a grant. A token whose grant has no row is refused at each use, so one that is inserted meanwhile is dead as well. */
  async endGrant(grantId: string, sql: Sql = this.database): Promise<void> {
    await this.rows.remove(sql, this.byId('Grant', grantId));
    await this.rows.remove(sql, { grantHash: In(this.hashesOf('Grant', grantId)) });
  }

  /**
   * Ends a grant that `grantsOf` has listed, with its codes and tokens.
   * Race: two requests that end it. The first DELETE wins, and the other one gets false.
   */
  async endGrantOf(sql: Sql, { idHash, payload }: FoundRecord): Promise<boolean> {
    if ((await this.rows.remove(sql, { idHash, kind: 'Grant' })) === 0) return false;
    await this.endGrant(String(payload.jti), sql);
    return true;
  }

  /** Ends all grants of a user: a token whose grant has no row is refused. @returns how many it has ended */
  endGrants(tx: Sql, userId: string): Promise<number> {
    return this.rows.remove(tx, { userId, kind: 'Grant' });
  }

  /**
   * Ends what a former application with this id has left: the grants, and with them each code and token, and what needs no grant.
   * The transaction has made the application of now, so nothing of its own is among them. Each read sees what others have removed
   * (READ COMMITTED), so the loop ends. Race: a consent to the former application that is stored only after this stays.
   */
  async endAllOf(tx: Sql, applicationId: string): Promise<void> {
    for (;;) {
      const rows = await this.rows.find({ applicationId, kind: In(decisive) }, { limit: endedAtOnce }, tx);
      if (rows.length === 0) return;
      await this.rows.remove(tx, { idHash: In(rows.map(({ idHash }) => idHash)) });
    }
  }

  /** What a deleted user has left. */
  async removeOf(userId: string): Promise<void> {
    await this.rows.remove(this.database, { userId });
  }

  private async found(where: Parameters<EntityRows<OidcRecord>['find']>[0]): Promise<FoundRecord | undefined> {
    const [row] = await this.rows.find(where, { order: { createdAt: 'DESC', idHash: 'ASC' }, limit: 1 });
    return row && this.opened(row);
  }

  /** A record of a key that has left the ring is one that cannot be used any more. */
  private opened(row: OidcRecord): FoundRecord | undefined {
    const payload = this.keys.openFromClient(recordPurpose, row.payload);
    return payload === undefined ? undefined : { ...row, payload: JSON.parse(payload) as Payload };
  }

  private byId(kind: string, id: string) {
    return { kind, idHash: In(this.hashesOf(kind, id)) };
  }

  /** With each key of the ring: records live on while keys are rotated. */
  private hashesOf(kind: string, id: string): string[] {
    return [...this.keys.macs(recordPurpose, `${kind}:${id}`)];
  }

  private hashOf(kind: string, id: string | undefined): string | null {
    return id === undefined ? null : hashOfRecord(this.keys, kind, id);
  }

  private unexpired() {
    return MoreThan(this.clock.now());
  }
}
