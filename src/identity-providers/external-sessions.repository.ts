import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';
import { Clock } from '../shared/clock';
import { ExternalSession } from './persistence/external-session.entity';

/** A person has a few in one session of the provider. */
const mostEnded = 1000;

export interface BegunSession {
  readonly sid: string;
  readonly userId: string;
  readonly identityProviderId: string;
  readonly subject: string;
  /** The session at the provider, if it has told one. */
  readonly providerSid: string | undefined;
}

/** The table `external_sessions`: which session of the service belongs to which one of a provider. */
@Injectable()
export class ExternalSessions {
  private readonly rows: EntityRows<ExternalSession>;

  constructor(
    @InjectRepository(ExternalSession) rows: Repository<ExternalSession>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  async begin(sql: Sql, { sid, userId, identityProviderId, subject, providerSid }: BegunSession): Promise<void> {
    await this.rows.insert(sql, {
      ...{ sid, userId, identityProviderId },
      subjectHash: sha256Hex(subject),
      providerSidHash: providerSid === undefined ? null : sha256Hex(providerSid),
      beganAt: this.clock.now(),
    });
  }

  /** The session `to` belongs to the same session of the provider as `from`. */
  async share(sql: Sql, from: string, to: string): Promise<void> {
    const row = await this.rows.findOne({ sid: from }, sql);
    if (row !== null) await this.rows.insert(sql, { ...row, sid: to, beganAt: this.clock.now() });
  }

  /** A new sign-in may have begun another session at the provider. */
  async follow(sql: Sql, sid: string, providerSid: string | undefined): Promise<void> {
    if (providerSid === undefined) return;
    await this.rows.update(sql, { sid }, { providerSidHash: sha256Hex(providerSid) });
  }

  /** Who has signed in from this session of the provider. */
  async userOf(sql: Sql, identityProviderId: string, providerSid: string): Promise<string | undefined> {
    return (await this.rows.findOne({ identityProviderId, providerSidHash: sha256Hex(providerSid) }, sql))?.userId;
  }

  /**
   * The sessions that began in this session of the provider, the newest first. Those of which the provider has never told its
   * session are among them: any of them may be meant.
   */
  async toEnd(sql: Sql, identityProviderId: string, userId: string, providerSid: string): Promise<string[]> {
    const of = { identityProviderId, userId };
    const conditions = [{ providerSidHash: sha256Hex(providerSid) }, { providerSidHash: IsNull() }];
    const newest = { order: { beganAt: 'DESC' }, limit: mostEnded } as const;
    const found: string[] = [];
    for (const one of conditions) {
      found.push(...(await this.rows.find({ ...of, ...one }, newest, sql)).map(({ sid }) => sid));
    }
    return found;
  }

  /** @param sids up to a thousand; some are of rows that are no session */
  async remove(sids: readonly string[]): Promise<void> {
    const keys = filledUp(sids);
    const places = keys.map(() => '?').join(', ');
    await this.database.affected(`DELETE FROM external_sessions WHERE sid IN (${places})`, keys);
  }

  /** All sessions of the user have ended. */
  async removeOf(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }
}
