import { type AppConfig, loadConfig } from './app-config';
import { SettingsProblem } from './settings-reader';

type Environment = Readonly<Record<string, string>>;

/**
 * Returns the settings of this process. If a setting is missing or wrong, prints one line to stderr and exits.
 * @param overrides win over the environment
 * @param defaultsFor returns settings over which the environment wins, for the value of `PORT`
 */
export function configOrExit(overrides: Environment = {}, defaultsFor?: (port: string) => Environment): AppConfig {
  try {
    return loadConfig({ ...defaultsFor?.(process.env.PORT || '3000'), ...process.env, ...overrides });
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    process.stderr.write(`configuration: ${error.message}\n`);
    process.exit(1);
  }
}
