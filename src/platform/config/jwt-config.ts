// Until every class takes its slice of the settings.
export type { JwtSettings as JwtConfig } from '../../sessions/jwt-settings';
