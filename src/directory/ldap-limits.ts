/** Limits in milliseconds for the questions to a directory (ADR 0010). */

/** All questions of one request, at all servers. With its other work the request is answered within 5 s. */
export const directoryBudgetMs = 4400;

/** The default and the longest value of `LDAP_TIMEOUT_MS`, for one operation. */
export const defaultTimeoutMs = 3000;
export const longestTimeoutMs = 4500;

/** After a failure a server is avoided for this long, which is then prolonged: it is tried last. */
export const avoidedMs = 10_000;

/** Further failures of a server that is avoided are logged once in this time, on the clock of the service. */
export const repeatedLogMs = 3_600_000;

/** The most entries of `LDAP_GROUPS`. Each costs a login up to three searches. */
export const mostNamedGroups = 100;
