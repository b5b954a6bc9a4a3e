// Until every class takes its slice of the settings.
export { rereadDatabaseUrl } from './database-settings';
