import type { LogRow } from '../../audit/log-search';

export interface FailingName {
  readonly loginName: string;
  /** Null for a name that nobody has. */
  readonly userId: string | null;
  readonly failures: number;
}

export interface FailingAddress {
  readonly ip: string;
  readonly failures: number;
  /** The different names that were tried from it. */
  readonly names: number;
}

export interface Failing {
  /** The refused logins that were looked at. */
  readonly of: number;
  readonly names: readonly FailingName[];
  readonly addresses: readonly FailingAddress[];
}

/** Fewer failures are a person who mistypes. */
const conspicuous = 3;
const shown = 5;

/** The names and addresses with the most failures among these rows of the log. */
export function failingIn(rows: readonly LogRow[]): Failing {
  const names = groupsOf(rows, nameOf).map((group) => ({
    loginName: String(group[0]!.login_name),
    userId: group[0]!.user_id as string | null,
    failures: group.length,
  }));
  const addresses = groupsOf(rows, (row) => String(row.ip)).map((group) => ({
    ip: String(group[0]!.ip),
    failures: group.length,
    names: new Set(group.map(nameOf)).size,
  }));
  return { of: rows.length, names: worst(names), addresses: worst(addresses) };
}

/** The account, whatever name it was tried by. */
const nameOf = (row: LogRow): string => JSON.stringify([row.user_id, row.user_id === null ? row.login_name : '']);

const groupsOf = (rows: readonly LogRow[], key: (row: LogRow) => string): LogRow[][] => {
  const groups = new Map<string, LogRow[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group === undefined) groups.set(key(row), [row]);
    else group.push(row);
  }
  return [...groups.values()];
};

const worst = <T extends { readonly failures: number }>(groups: readonly T[]): T[] =>
  groups
    .filter(({ failures }) => failures >= conspicuous)
    .sort((a, b) => b.failures - a.failures)
    .slice(0, shown);
