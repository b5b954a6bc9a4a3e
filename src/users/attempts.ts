import { LessThan, MoreThanOrEqual, type ObjectLiteral } from 'typeorm';
import type { Change, Condition, EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';

/** The result of `reserveAttempt`. `last` grants an attempt as well, and uses up the budget. */
export type Reservation = 'granted' | 'last' | 'refused';

/** A limited number of attempts, counted in a column of one row. */
export interface AttemptBudget<Row> {
  /** The column that counts the attempts. */
  readonly counter: keyof Row & string;
  /** The condition that names the row and the time in which it accepts attempts. */
  readonly open: Condition<Row>;
  readonly limit: number;
  /** What the last attempt writes instead of the count. It must make `open` false. */
  readonly close?: Change<Row>;
}

/**
 * Takes one attempt before a secret is compared, so that parallel guesses get no more comparisons than sequential ones.
 * Race: any number of guesses, on any replica. The database counts them one after the other: `limit` of them win, and
 * the winner of the last attempt closes the budget in the same statement. The others match no row and are refused.
 */
export async function reserveAttempt<Row extends ObjectLiteral>(
  sql: Sql,
  rows: EntityRows<Row>,
  { counter, open, limit, close }: AttemptBudget<Row>,
): Promise<Reservation> {
  const counted = rows.incremented(counter);
  const before = { ...open, [counter]: LessThan(limit - 1) };
  if (await rows.won(sql, before, counted)) return 'granted';
  // A count can be above the limit after the setting was lowered. With `close`, the next attempt closes the budget.
  // Without `close`, the budget is used up already.
  const last = { ...open, [counter]: close === undefined ? limit - 1 : MoreThanOrEqual(limit - 1) };
  return (await rows.won(sql, last, close ?? counted)) ? 'last' : 'refused';
}
