import { type SearchTerm, termsOf } from '../../shared/search-words';
import type { UserFilter } from './listed-user';
import { allOf, anyOf, beginnings, beginsWith, type Condition, condition } from './conditions';

/** A word in one of these spellings. It is one range of an index for each spelling. */
export const wordBegins = (column: string, spellings: readonly string[]): Condition =>
  anyOf(...spellings.map((text) => beginsWith(column, text)));

/** The words that each user has who matches the term. */
export const firstOf = ({ parts }: SearchTerm): readonly string[] => parts[0]!;

/** Whether one range of words decides about the term. A word that the whole term begins is one that its first part begins. */
export const isPlain = ({ parts }: SearchTerm): boolean => parts.length === 1;

/**
 * The user of a row matches the term: one look-up in the words of the user for each part. It is a scalar subquery, because
 * MariaDB makes a join of EXISTS, which begins with all users who have the word.
 */
export function matches({ parts, whole }: SearchTerm): Condition {
  const all = allOf(...parts.map(hasWord));
  return whole === undefined ? all : anyOf(all, hasWord(whole));
}

function hasWord(spellings: readonly string[]): Condition {
  const { text, values } = wordBegins('v.word', spellings);
  return condition(`(SELECT COUNT(*) FROM user_words v WHERE v.user_id = users.uid AND ${text}) > 0`, ...values);
}

/** A user has several words that begin so. The first one is the place of the user in the order of the words. */
export function firstWord(spellings: readonly string[]): Condition {
  const { text, values } = wordBegins('v.word', spellings);
  return condition(`(SELECT MIN(v.word) FROM user_words v WHERE v.user_id = users.uid AND ${text})`, ...values);
}

export function isFirstWord(column: string, spellings: readonly string[]): Condition {
  const { text, values } = firstWord(spellings);
  return condition(`${column} = ${text}`, ...values);
}

/**
 * The conditions of the query, for a row of `users`. A query without a word is compared as in version 1.0.0.
 * @param known a term about which the candidates have decided
 */
export function queryConditions({ query = '' }: UserFilter, known?: SearchTerm): Condition[] {
  if (query.trim() === '') return [];
  const terms = termsOf(query);
  if (terms.length === 0) return [anyOf(...beginnings(query).map((one) => allOf(one)))];
  const decided = JSON.stringify(known);
  return terms.filter((term) => JSON.stringify(term) !== decided).map(matches);
}
