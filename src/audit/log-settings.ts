import type { SettingsReader } from '../platform/config/settings-reader';

/** How long a whole IP address is kept (docs/spec/extensions.md#log-ip-days). */
export abstract class LogAddressSettings {
  /** 0: for as long as its row. */
  abstract readonly days: number;
}

export function readLogAddressSettings(env: SettingsReader): LogAddressSettings {
  return { days: env.count('LOG_IP_DAYS', 0, { min: 0, max: 36_500 }) };
}
