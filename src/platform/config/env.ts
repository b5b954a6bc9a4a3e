// Until every class takes its slice of the settings.
export { configOrExit } from '../../settings/env';
