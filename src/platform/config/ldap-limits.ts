/** Limits in milliseconds for the questions to a directory (ADR 0010). */

/** All questions of one request, at all servers. With its other work the request is answered within 5 s. */
export const directoryBudgetMs = 4400;

/** The default and the longest value of `LDAP_TIMEOUT_MS`, for one operation. */
export const defaultTimeoutMs = 3000;
export const longestTimeoutMs = 4500;

/** After a failure a server is avoided for this long: it is tried last, and further failures are not logged. */
export const avoidedMs = 10_000;
