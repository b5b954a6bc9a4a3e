// Until every class takes its slice of the settings.
export { AppConfig, loadConfig } from '../../settings/app-config';
