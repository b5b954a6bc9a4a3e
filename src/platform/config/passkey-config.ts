// Until every class takes its slice of the settings.
export type { RelyingParty as PasskeyConfig } from '../../sessions/passkey-settings';
