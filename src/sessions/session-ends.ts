import { Injectable } from '@nestjs/common';
import type { Sql } from '../platform/database/sql';

/** The sessions that a transaction ends: single ones, or all of a user. */
export type EndedSessions = { readonly sids: readonly string[] } | { readonly userId: string };

/** Something that ends together with a session, or that has to be told of its end. */
export interface SessionEndListener {
  /**
   * Runs in the transaction that ends the sessions, after their rows are marked. It may only write rows, in a bounded
   * number of statements: the transaction holds the rows of the sessions, and may run again after a deadlock.
   */
  ended(sql: Sql, sessions: EndedSessions): Promise<void>;

  /** `purge` is about to delete the first rows of these sessions, which ended or expired at least an hour ago. */
  forgotten(sids: readonly string[]): Promise<void>;
}

/**
 * The port of the end of sessions (ADR 0035). Everything that ends a session calls it in its own transaction, through
 * LoginTokens. The expiry of a session is an end that nobody is told of. Without a listener it costs nothing.
 */
@Injectable()
export class SessionEnds {
  private readonly listeners: SessionEndListener[] = [];

  /** Called in the constructor of the listener, so its module must be part of every program that ends sessions. */
  register(listener: SessionEndListener): void {
    this.listeners.push(listener);
  }

  async tell(sql: Sql, sessions: EndedSessions): Promise<void> {
    if ('sids' in sessions && sessions.sids.length === 0) return;
    for (const listener of this.listeners) await listener.ended(sql, sessions);
  }

  async forget(sids: readonly string[]): Promise<void> {
    for (const listener of this.listeners) await listener.forgotten(sids);
  }
}
