import { type AppConfig, loadConfig } from './app-config';
import { SettingsProblem } from './settings-reader';

/** Returns the settings of this process. If a setting is missing or wrong, prints one line to stderr and exits. */
export function configOrExit(overrides: Readonly<Record<string, string>> = {}): AppConfig {
  try {
    return loadConfig({ ...process.env, ...overrides });
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    process.stderr.write(`configuration: ${error.message}\n`);
    process.exit(1);
  }
}
