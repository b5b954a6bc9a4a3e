// The arithmetic of docs/operations/scale.md: how many rows each table has when `purge` deletes as many as come in.

/** What the operator may know better. Each name is an option of `npm run sizing`. */
export const usage = {
  /** Successful logins of a user a day, over the whole week. */
  'logins-per-day': 0.7,
  /** Refreshes of a user a day: eight hours at four an hour, on five days of seven. */
  'refreshes-per-day': 23,
  /** Codes, notices and links by mail, for each user and day. */
  'mails-per-day': 0.2,
  /** Rows of audit_logs for each user and day. */
  'audits-per-day': 0.05,
  /** Password changes of a user a year: PASSWORD_EXPIRE_DAYS = 90. */
  'changes-per-year': 4,
  /** Browsers of a user. */
  browsers: 2,
  /** --logs-days of purge */
  'log-days': 400,
  /** REFRESH_TOKEN_TTL_SECONDS in days */
  'session-days': 7,
  /** Hours between two runs of purge. */
  'purge-hours': 24,
  /** For tables that are never purged. */
  years: 3,
};

const hour = 1 / 24;

/**
 * Rows of each table. A row waits for the next run of `purge`, at most `purge-hours`, and for the time that the table
 * keeps it (docs/operations/retention.md). `tries` and `access-minutes` are those of the sizing.
 */
export function rowsFor(users, a) {
  const logins = users * a['logins-per-day'];
  const refreshes = users * a['refreshes-per-day'];
  const purge = a['purge-hours'] * hour;
  return {
    users,
    user_change_pwd_logs: users * (1 + a['changes-per-year'] * a.years),
    known_browsers: users * a.browsers,
    login_logs: logins * a.tries * (a['log-days'] + purge),
    audit_logs: users * a['audits-per-day'] * (a['log-days'] + purge),
    'login_tokens (sessions)': logins * (a['session-days'] + hour + purge),
    'login_tokens (access)': (logins + refreshes) * ((a['access-minutes'] / 60 + 1) * hour + purge),
    captcha_receipts: logins * a.tries * purge,
    mail_outbox: users * a['mails-per-day'] * (30 + purge),
  };
}

/** Rows that `purge` deletes a day: what comes in goes out. */
export function purgedPerDay(users, a) {
  const logins = users * a['logins-per-day'];
  return logins * (2 + 2 * a.tries) + users * (a['refreshes-per-day'] + a['mails-per-day'] + a['audits-per-day']);
}

/** Bytes of each table with its indexes. `tables` is what one row takes (bench/growth.mjs). */
export function bytesFor(users, tables, a) {
  return Object.fromEntries(
    Object.entries(rowsFor(users, a)).map(([name, rows]) => [name, rows * bytesPerRow(tables[name])]),
  );
}

/** One row with its entries in all indexes, in bytes. */
export function bytesPerRow({ indexes }) {
  return Object.values(indexes).reduce((sum, one) => sum + one, 0);
}

/**
 * What is read and written all day: users, tokens, one day of the logs. The rest of the logs may stay on the disk. A
 * quarter more for undo, locks and the pages of other tables.
 */
export function bufferPoolFor(users, tables, a) {
  const all = bytesFor(users, tables, a);
  const logs = (all.login_logs + all.audit_logs) / a['log-days'];
  const hot = all.users + all['login_tokens (sessions)'] + all['login_tokens (access)'] + all.captcha_receipts + logs;
  return 1.25 * hot;
}
