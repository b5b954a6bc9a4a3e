import { type AppConfig, loadConfig } from './app-config';
import { SettingsProblem } from './settings-reader';

/** The settings of this process. When something is missing or wrong: one line on standard error, and the end. */
export function configOrExit(overrides: Readonly<Record<string, string>> = {}): AppConfig {
  try {
    return loadConfig({ ...process.env, ...overrides });
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    process.stderr.write(`configuration: ${error.message}\n`);
    process.exit(1);
  }
}
