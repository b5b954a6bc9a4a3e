import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, Not, type Repository } from 'typeorm';
import { KeyRing } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { PendingLoginSettings } from '../sessions/session-settings';
import { Clock } from '../shared/clock';
import { ExternalSignIn } from './persistence/external-sign-in.entity';
import type { Claims } from './provider-connection';

const purpose = 'external-sign-in';
/** A person may have to look for a telephone at the provider. */
const requestSeconds = 600;
const codeSeconds = 60;

/** What the service remembers of a request until its answer comes back. */
export interface BegunSignIn {
  readonly identityProviderId: string;
  readonly nonce: string;
  readonly verifier: string;
  /** What was asked for, whatever an administrator has changed since. */
  readonly scopes: readonly string[];
  readonly acrValues: readonly string[];
  readonly returnTo: string | undefined;
  /** The user who confirms a session; undefined at a sign-in. */
  readonly confirms: string | undefined;
  /** The administrator who tries the provider: nobody signs in. */
  readonly tries?: string | undefined;
  readonly beganAt: number;
}

/** What the callback hands over to the redemption of the code. */
export interface AnsweredSignIn {
  readonly sub: string;
  /** The session at the provider. */
  readonly sid: string | undefined;
  /** Whether the provider has proven a second factor, and is trusted in this. */
  readonly mfa: boolean;
  /** Milliseconds; when the provider asked the person last. Undefined: it does not say. */
  readonly askedAt: number | undefined;
  readonly person: ExternalPerson;
}

/** What a try of an administrator has shown. It is read once, and only by this administrator. */
export type TriedSignIn =
  | { readonly refused: string }
  | {
      readonly claims: Claims;
      readonly person: ExternalPerson;
      readonly mfa: boolean;
      readonly owner: ForeseenOwner;
    };

/** What a sign-in of this person would do. */
export interface ForeseenOwner {
  readonly outcome: 'signs_in' | 'binds' | 'creates' | 'refused';
  /** The account that is meant or in the way. */
  readonly userId: string | null;
  /** Why the person would be refused. */
  readonly reason: string | null;
}

/** What the claims say of a person, by the mapping of the provider. Null: nothing, or nothing usable. */
export interface ExternalPerson {
  readonly loginName: string | null;
  readonly email: string | null;
  readonly nickname: string | null;
  /** The value of `match_claim`. */
  readonly externalId: string | null;
  readonly groups: readonly string[] | null;
  /** The domain of the address is one of the provider. */
  readonly vouched?: boolean;
}

export interface HandedOver {
  /** Identifies the sign-in. */
  readonly id: string;
  readonly identityProviderId: string;
  readonly userId: string;
  readonly begun: BegunSignIn;
  readonly answer: AnsweredSignIn;
  /** When the answer of the provider came. */
  readonly answeredAt: Date;
}

/**
 * The table `external_sign_ins`. State, code and cookie are keyed hashes there, and what belongs to them is sealed: a copy
 * of the database signs nobody in.
 */
@Injectable()
export class ExternalSignIns {
  private readonly rows: EntityRows<ExternalSignIn>;

  constructor(
    @InjectRepository(ExternalSignIn) rows: Repository<ExternalSignIn>,
    private readonly database: Database,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly pendingLogins: PendingLoginSettings,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  async begin(state: string, browser: string, begun: BegunSignIn): Promise<void> {
    await this.rows.insert(this.database, {
      stateHash: this.keys.mac(purpose, `state:${state}`),
      browserHash: this.keys.mac(purpose, `browser:${browser}`),
      identityProviderId: begun.identityProviderId,
      payload: this.keys.seal(purpose, JSON.stringify(begun)),
      expires: this.clock.secondsFromNow(requestSeconds),
      createdAt: this.clock.now(),
    });
  }

  /**
   * Takes the state of an answer.
   * Race: one answer that is sent twice, to any replica. The first UPDATE wins. The other one matches no row and is refused.
   * @returns undefined for a state that is unknown, used, expired, or of another provider or browser
   */
  async take(state: string, browser: string, identityProviderId: string): Promise<BegunSignIn | undefined> {
    const where = {
      stateHash: In(this.hashesOf('state', state)),
      browserHash: In(this.hashesOf('browser', browser)),
      identityProviderId,
      answeredAt: IsNull(),
      expires: MoreThan(this.clock.now()),
    };
    const row = await this.rows.findOne(where);
    const payload = row && this.keys.openFromClient(purpose, row.payload);
    if (!payload) return undefined;
    if (!(await this.rows.won(this.database, where, { answeredAt: this.clock.now() }))) return undefined;
    return JSON.parse(payload) as BegunSignIn;
  }

  /** The code lives a minute, however long the person needed at the provider. Only the caller who took the state comes here. */
  answer(sql: Sql, state: string, code: string, userId: string, answer: AnsweredSignIn): Promise<void> {
    return this.handOver(sql, state, code, userId, answer);
  }

  /** Without a user, so `redeem` does not find it: no session comes of a try. */
  keepTry(state: string, code: string, tried: TriedSignIn): Promise<void> {
    return this.handOver(this.database, state, code, null, tried);
  }

  /**
   * Race: one code that is sent twice, to any replica. The first UPDATE wins, and the other one matches no row.
   * @returns undefined for a code that is unknown, used, expired, of another provider or administrator, or of a sign-in
   */
  async redeemTry(code: string, identityProviderId: string, administrator: string): Promise<TriedSignIn | undefined> {
    const where = {
      ...{ codeHash: In(this.hashesOf('code', code)), identityProviderId, userId: IsNull(), spentAt: IsNull() },
      expires: MoreThan(this.clock.now()),
    };
    const row = await this.rows.findOne(where);
    const payload = row && this.keys.openFromClient(purpose, row.payload);
    const result = row?.result == null ? undefined : this.keys.openFromClient(purpose, row.result);
    if (!payload || result === undefined) return undefined;
    if ((JSON.parse(payload) as BegunSignIn).tries !== administrator) return undefined;
    // The claims of a person are not kept longer than they are needed.
    const spent = { spentAt: this.clock.now(), result: null };
    return (await this.rows.won(this.database, where, spent)) ? (JSON.parse(result) as TriedSignIn) : undefined;
  }

  /**
   * Redeems a code.
   * Race: one code that is sent twice, to any replica. The first UPDATE wins. The other one matches no row and is refused.
   * @returns undefined for a code that is unknown, used, expired or of another browser
   */
  async redeem(code: string, browser: string): Promise<HandedOver | undefined> {
    const where = {
      codeHash: In(this.hashesOf('code', code)),
      browserHash: In(this.hashesOf('browser', browser)),
      spentAt: IsNull(),
      expires: MoreThan(this.clock.now()),
    };
    const row = await this.rows.findOne(where);
    if (row?.userId == null || row.result === null || row.answeredAt === null) return undefined;
    const payload = this.keys.openFromClient(purpose, row.payload);
    const result = this.keys.openFromClient(purpose, row.result);
    if (payload === undefined || result === undefined) return undefined;
    if (!(await this.rows.won(this.database, where, { spentAt: this.clock.now() }))) return undefined;
    const { stateHash: id, identityProviderId, userId, answeredAt } = row;
    const begun = JSON.parse(payload) as BegunSignIn;
    return { id, identityProviderId, userId, begun, answeredAt, answer: JSON.parse(result) as AnsweredSignIn };
  }

  /** The redeemed sign-in waits for the second factor of this service, and is kept as long. */
  async waitFor(id: string, pendingId: string): Promise<void> {
    const expires = this.clock.secondsFromNow(this.pendingLogins.pendingTtlSeconds);
    await this.rows.update(this.database, { stateHash: id, spentAt: Not(IsNull()) }, { pendingId, expires });
  }

  /** The sign-in that has led to a pending login. */
  async ofPending(sql: Sql, userId: string, pendingId: string): Promise<Omit<HandedOver, 'begun'> | undefined> {
    const row = await this.rows.findOne({ userId, pendingId }, sql);
    const answer = row === null ? undefined : this.resultOf(row);
    if (row?.answeredAt == null || answer === undefined) return undefined;
    const { stateHash: id, identityProviderId, answeredAt } = row;
    return { id, identityProviderId, userId, answeredAt, answer };
  }

  /**
   * Finds the user whose sign-in came from this session of the provider and is not yet a session of this service: its code is
   * not redeemed, or it waits for the second factor. What the provider has said is sealed, so the rows are opened one by one:
   * those of the last minute, and those that wait. A sign-in whose answer is verified at this moment is not found.
   */
  async userOf(sql: Sql, identityProviderId: string, providerSid: string): Promise<string | undefined> {
    // No order and no limit: the database would walk over the expired rows as well, in the index of the codes.
    const answered = { identityProviderId, userId: Not(IsNull()), expires: MoreThan(this.clock.now()) };
    const rows = await this.rows.find(answered, {}, sql);
    return rows.find((row) => this.resultOf(row)?.sid === providerSid)?.userId ?? undefined;
  }

  /**
   * The user leaves. Races with `redeem`, on any replica. If this commits first, the code is unknown. If the redemption wins,
   * the caller has disabled the account, and its status is read when the session opens.
   * @returns how many codes could still have been redeemed
   */
  endOpen(tx: Sql, userId: string): Promise<number> {
    return this.rows.remove(tx, { userId, spentAt: IsNull(), expires: MoreThan(this.clock.now()) });
  }

  /** What a deleted user has left. */
  async removeOf(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }

  private async handOver(sql: Sql, state: string, code: string, userId: string | null, result: object): Promise<void> {
    await this.rows.update(
      sql,
      { stateHash: In(this.hashesOf('state', state)), answeredAt: Not(IsNull()), codeHash: IsNull() },
      {
        codeHash: this.keys.mac(purpose, `code:${code}`),
        userId,
        result: this.keys.seal(purpose, JSON.stringify(result)),
        expires: this.clock.secondsFromNow(codeSeconds),
      },
    );
  }

  /** The opened answer of the provider. Undefined while there is none, or when no data key opens it. */
  private resultOf({ result }: ExternalSignIn): AnsweredSignIn | undefined {
    const opened = result === null ? undefined : this.keys.openFromClient(purpose, result);
    return opened === undefined ? undefined : (JSON.parse(opened) as AnsweredSignIn);
  }

  private hashesOf(kind: string, value: string): string[] {
    return [...this.keys.macs(purpose, `${kind}:${value}`)];
  }
}
