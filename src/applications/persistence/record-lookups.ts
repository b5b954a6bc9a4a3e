import DataLoader from 'dataloader';
import type { Database } from '../../platform/database/database';
import type { EntityRows } from '../../platform/database/entity-rows';
import { filledUp } from '../../platform/database/statement-keys';
import { sessionLives } from '../../sessions/live-sessions';
import type { Clock } from '../../shared/clock';
import { columnsOf, readerOf, type Stored } from '../../users/user-columns';
import type { User } from '../../users/user.entity';
import type { Application } from '../application.entity';
import type { OidcRecord } from './oidc-record.entity';

/** What the provider needs of a user. A field that is missing here does not compile. */
const userFields = [
  ...(['uid', 'status', 'deletedAt', 'credentialVersion', 'tenantId', 'orgUnitId', 'loginName', 'nickname'] as const),
  ...(['email', 'emailKey', 'provenEmailKey'] as const),
  ...(['provider', 'directorySeenAt', 'lastLoginSuccessTime', 'createdAt'] as const),
] as const;
type UserField = (typeof userFields)[number];
export type ProviderUser = Pick<User, UserField>;

/** A record and what it depends on. What is undefined or false was not found, and may still be found in another way. */
export interface RecordInContext {
  readonly record: OidcRecord;
  readonly grant: OidcRecord | undefined;
  readonly user: ProviderUser | undefined;
  readonly application: Application | undefined;
  /** The session of the record lives, under the credential version of the grant. */
  readonly sessionLives: boolean;
}

/** The columns of a user without a row are null. */
type UserColumns = Stored<UserField> | { readonly uid: null };
type Row = Record<string, unknown> & UserColumns & { readonly session_lives: unknown };

interface Tables {
  readonly database: Database;
  readonly records: EntityRows<OidcRecord>;
  readonly applications: EntityRows<Application>;
  readonly clock: Clock;
}

/** More look-ups at once are sent as several statements. A power of two, see `filledUp`. */
const maxLookupsAtOnce = 32;

const userColumns = columnsOf(userFields, 'u');
const userOf = readerOf(userFields);

/**
 * Finds a record together with its grant, user, application and session: five look-ups by primary key in one statement. The
 * requests in one iteration of the event loop share it, as the checks of tokens do. Nothing is cached: the statement is sent
 * after the last of these requests has arrived (ADR 0014).
 */
export class RecordLookups {
  private readonly lookups = new DataLoader<string, RecordInContext | undefined>((hashes) => this.findAll(hashes), {
    cache: false,
    maxBatchSize: maxLookupsAtOnce,
    batchScheduleFn: setImmediate,
  });

  /** The columns of three entities. TypeORM knows them when it has connected. */
  private columns?: string;

  constructor(private readonly tables: Tables) {}

  /**
   * Judges nothing: `RecordAdapter` decides what still counts.
   * @returns undefined when there is no such record, or when it has expired
   */
  find(idHash: string): Promise<RecordInContext | undefined> {
    return this.lookups.load(idHash);
  }

  private async findAll(hashes: readonly string[]): Promise<(RecordInContext | undefined)[]> {
    const { database, records, applications, clock } = this.tables;
    this.columns ??= `${records.columns('r')}, ${records.columns('g')}, ${applications.columns('a')}`;
    const asked = filledUp(hashes);
    const now = clock.now();
    const rows = await database.rows<Row>(
      `SELECT ${this.columns}, ${userColumns},
              ${sessionLives('r.sid', 'r.user_id', 'COALESCE(g.credential_version, r.credential_version)')} AS session_lives
       FROM oidc_records r
       LEFT JOIN oidc_records g ON g.id_hash = r.grant_hash AND g.kind = 'Grant' AND g.expires > ?
       LEFT JOIN users u ON u.uid = r.user_id
       LEFT JOIN applications a ON a.id = r.application_id
       WHERE r.id_hash IN (${asked.map(() => '?').join(', ')}) AND r.expires > ?`,
      [now, now, ...asked, now],
    );
    const found = new Map(rows.map((row) => [row.r_id_hash, row]));
    return hashes.map((hash) => {
      const row = found.get(hash);
      return row && this.inContext(row);
    });
  }

  private inContext(row: Row): RecordInContext {
    const { records, applications } = this.tables;
    return {
      record: records.read(row, 'r'),
      grant: row.g_id_hash === null ? undefined : records.read(row, 'g'),
      user: row.uid === null ? undefined : userOf(row),
      application: row.a_id === null ? undefined : applications.read(row, 'a'),
      sessionLives: Number(row.session_lives) === 1,
    };
  }
}
