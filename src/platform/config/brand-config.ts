// Until every class takes its slice of the settings.
export { brandPath } from '../../mail/brand-settings';
