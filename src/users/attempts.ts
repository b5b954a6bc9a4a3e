import type { Sql, SqlValue } from '../platform/database/sql';

/** The result of `reserveAttempt`. `last` grants an attempt as well, and uses up the budget. */
export type Reservation = 'granted' | 'last' | 'refused';

/** A limited number of attempts, counted in a column of one row. All texts are constants of the code. */
export interface AttemptBudget {
  readonly table: string;
  /** The column that counts the attempts. */
  readonly counter: string;
  /** The condition that names the row and the time in which it accepts attempts. */
  readonly open: string;
  /** The values of the condition. */
  readonly values: readonly SqlValue[];
  readonly limit: number;
  /** The columns that the last attempt writes instead of the count. They must make `open` false. */
  readonly close?: { readonly set: string; readonly values: readonly SqlValue[] };
}

/**
 * Takes one attempt before a secret is compared, so that parallel guesses get no more comparisons than sequential ones.
 * Race: any number of guesses, on any replica. The database counts them one after the other: `limit` of them win, and
 * the winner of the last attempt closes the budget in the same statement. The others match no row and are refused.
 */
export async function reserveAttempt(sql: Sql, budget: AttemptBudget): Promise<Reservation> {
  const { table, counter, open, values, limit, close } = budget;
  const count = { set: `${counter} = ${counter} + 1`, values: [] };
  const take = (write: NonNullable<AttemptBudget['close']>, condition: string) =>
    sql.won(`UPDATE ${table} SET ${write.set} WHERE ${open} AND ${counter} + 1 ${condition} ?`, [
      ...write.values,
      ...values,
      limit,
    ]);
  if (await take(count, '<')) return 'granted';
  // A count can be above the limit after the setting was lowered. With `close`, the next attempt closes the budget.
  // Without `close`, the budget is used up already.
  return (await take(close ?? count, close === undefined ? '=' : '>=')) ? 'last' : 'refused';
}
