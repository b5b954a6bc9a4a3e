// Until every class takes its slice of the settings.
export { defaultSender } from '../../mail/mail-settings';
