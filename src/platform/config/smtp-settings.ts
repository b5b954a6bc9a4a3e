// Until every class takes its slice of the settings.
export { settingsOfTenant, settingsOfUrl, SmtpProblem, type SmtpSettings } from '../../mail/smtp-settings';
