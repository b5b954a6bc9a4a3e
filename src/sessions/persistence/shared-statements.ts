import DataLoader from 'dataloader';
import type { Database } from '../../platform/database/database';
import { timeOrNull } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { groupNamesOf } from '../../groups/group-names';
import { directorySeenAt } from '../../users/directory-accounts';
import type { OwnFactors } from '../../users/own-factors';
import { columnsOf, type Stored } from '../../users/user-columns';
import { sessionFields } from '../../users/user-fields';
import { type Provider, userStatus } from '../../users/user.entity';
import type { SessionUser } from '../current-session';
import type { TokenPayload, TokenUse } from '../token-payload';
import { crowded } from './session-rows';

export interface NewToken {
  readonly jti: string;
  readonly use: TokenUse;
  /** The row and the claims use one reading of the clock, so that the lifetime is exactly that of the settings. */
  readonly createdAt: Date;
  readonly expires: Date;
}

/** The tenant and the unit that a token names. They are read from the user's row whenever a token is issued. */
export type Scope = Pick<SessionUser, 'tenantId' | 'orgUnitId'>;

export interface RefreshedUser extends Scope {
  /** When the directory last had no objection to a directory user. Null for a local user. */
  readonly directorySeenAt: Date | null;
  /** The session has many rows (SessionRows). */
  readonly crowded: boolean;
  /** The last credential check of the session. Null when no version has stored it. */
  readonly authenticatedAt: Date | null;
}

export interface TokenRow extends Stored<(typeof sessionFields)[number]> {
  readonly jti: string;
  readonly sid: string;
  readonly token_type: TokenUse;
  readonly directory_seen_at: unknown;
  readonly credential_version: number;
  readonly expires: unknown;
  readonly live: number;
  /** Only in the check of a refresh. */
  readonly crowded?: number;
  readonly authenticated_at?: unknown;
  /** Not in every check. */
  readonly group_names?: unknown;
}

const groups = `, ${groupNamesOf('u')} AS group_names`;
const flag = `${groups}, u.provider, u.identity_provider_id, u.created_at AS user_created_at, u.own_factors`;
const counts = (factors: OwnFactors) => `${flag},
              ${factors.quickCount('recovery codes', 'u')} AS recovery_codes_left,
              ${factors.quickCount('passkeys', 'u')} AS passkeys`;
const passwordTime = `,
              (SELECT l.created_at FROM user_change_pwd_logs l WHERE l.user_id = u.uid ORDER BY l.id DESC LIMIT 1)
                AS password_set_at`;

/**
 * The columns of the account that `GET /user/me` reads with the check of its token, with the groups. Other checks read none
 * of them.
 * `flag`: whether the user has own factors; `counts`: also how many; `all`: also the time of the password.
 */
export type AccountDetail = 'flag' | 'counts' | 'all';

/** A row of a check that also reads of the account. */
export interface AccountRow extends TokenRow {
  readonly provider: Provider;
  readonly identity_provider_id: string | null;
  readonly user_created_at: unknown;
  readonly own_factors: number;
  /** Only with `all`. */
  readonly password_set_at?: unknown;
  /** Only with `counts` and `all`. */
  readonly recovery_codes_left?: number;
  readonly passkeys?: number;
}

type RefreshedRow = Stored<keyof Scope> & Pick<TokenRow, 'jti' | 'directory_seen_at' | 'crowded' | 'authenticated_at'>;

interface Insertion {
  readonly presented: TokenPayload;
  readonly token: NewToken;
}

/** More insertions at once are sent as several statements. Each number needs its own prepared statement. */
const maxInsertionsAtOnce = 16;

/** More checks at once are sent as several statements, on several connections. A power of two, see `filledUp`. */
const maxChecksAtOnce = 32;

const sessionColumns = columnsOf(sessionFields, 'u');
const scopeColumns = columnsOf(['tenantId', 'orgUnitId'], 'u');

/** A token, the first row of its session, and its user: three look-ups by primary key. */
const checked = `login_tokens t
       JOIN login_tokens root ON root.jti = t.sid
       JOIN users u ON u.uid = t.user_identity`;
const presented = 't.jti = ? AND t.sid = ? AND t.user_identity = ? AND t.token_type = ?';
const live = `t.is_revoked = 0 AND root.is_revoked = 0 AND u.status = ${userStatus.enabled}
               AND t.credential_version = u.credential_version`;
const insertion = `SELECT ?, ?, t.user_identity, 0, ?, t.sid, t.credential_version, ?
       FROM ${checked}
       WHERE ${presented} AND ${live} AND t.successor_jti IS NULL`;

/**
 * The two statements of the busiest endpoints. Requests in one iteration of the event loop share a statement. Nothing
 * is cached: the statement is sent after the last of these requests has arrived (ADR 0014).
 */
export class SharedStatements {
  private readonly checks = this.checksWith<TokenRow>(() => '');
  private readonly rotationChecks = this.checksWith<TokenRow>(
    () => `, root.authenticated_at, ${crowded('t.sid')} AS crowded`,
  );
  private readonly groupChecks = this.checksWith<TokenRow>(() => groups);
  private readonly accountChecks: Record<AccountDetail, DataLoader<string, AccountRow | undefined>>;

  private readonly insertions = new DataLoader<Insertion, RefreshedUser | undefined>((all) => this.insertAll(all), {
    cache: false,
    maxBatchSize: maxInsertionsAtOnce,
    batchScheduleFn: setImmediate,
  });

  constructor(
    private readonly database: Database,
    factors: OwnFactors,
  ) {
    this.accountChecks = {
      flag: this.checksWith(() => flag),
      counts: this.checksWith(() => counts(factors)),
      all: this.checksWith(() => counts(factors) + passwordTime),
    };
  }

  find(jti: string): Promise<TokenRow | undefined> {
    return this.checks.load(jti);
  }

  /** The check of a refresh with rotation, which also tells whether the session is crowded. */
  findForRotation(jti: string): Promise<TokenRow | undefined> {
    return this.rotationChecks.load(jti);
  }

  /** The check of a token for those who decide by groups. */
  findWithGroups(jti: string): Promise<TokenRow | undefined> {
    return this.groupChecks.load(jti);
  }

  findWithAccount(jti: string, detail: AccountDetail): Promise<AccountRow | undefined> {
    return this.accountChecks[detail].load(jti);
  }

  insertFrom(presented: TokenPayload, token: NewToken): Promise<RefreshedUser | undefined> {
    return this.insertions.load({ presented, token });
  }

  /** @param columns asked at each check, because the modules that count are made after this one */
  private checksWith<Row extends TokenRow>(columns: () => string): DataLoader<string, Row | undefined> {
    return new DataLoader((jtis) => this.select<Row>(jtis, columns()), {
      cache: false,
      maxBatchSize: maxChecksAtOnce,
      batchScheduleFn: setImmediate,
    });
  }

  private async select<Row extends TokenRow>(jtis: readonly string[], columns: string): Promise<(Row | undefined)[]> {
    const asked = filledUp(jtis);
    const rows = await this.database.rows<Row>(
      `SELECT t.jti, t.sid, t.token_type, t.credential_version, t.expires,
              ${sessionColumns}, ${directorySeenAt('u')} AS directory_seen_at, (${live}) AS live${columns}
       FROM ${checked}
       WHERE t.jti IN (${asked.map(() => '?').join(', ')})`,
      asked,
    );
    const found = new Map(rows.map((row) => [row.jti, row]));
    return jtis.map((jti) => found.get(jti));
  }

  private async insertAll(insertions: readonly Insertion[]): Promise<(RefreshedUser | undefined)[]> {
    const inserted = await this.database.affected(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
       ${insertions.map(() => insertion).join(' UNION ALL ')}`,
      insertions.flatMap(({ presented: { jti, sid, sub, token_use }, token }) => [
        ...[token.jti, token.use, token.expires, token.createdAt],
        ...[jti, sid, sub, token_use],
      ]),
    );
    if (inserted === 0) return insertions.map(() => undefined);
    const rows = await this.database.rows<RefreshedRow>(
      `SELECT t.jti, ${scopeColumns}, ${directorySeenAt('u')} AS directory_seen_at, root.authenticated_at,
              ${crowded('t.sid')} AS crowded
       FROM ${checked}
       WHERE t.jti IN (${insertions.map(() => '?').join(', ')})`,
      insertions.map(({ token }) => token.jti),
    );
    const users = new Map(
      rows.map((row) => [
        row.jti,
        {
          tenantId: row.tenantId,
          orgUnitId: row.orgUnitId,
          directorySeenAt: timeOrNull(row.directory_seen_at),
          crowded: Number(row.crowded) === 1,
          authenticatedAt: timeOrNull(row.authenticated_at),
        },
      ]),
    );
    return insertions.map(({ token }) => users.get(token.jti));
  }
}
