// Until every class takes its slice of the settings.
export { avoidedMs, directoryBudgetMs, repeatedLogMs } from '../../directory/ldap-limits';
