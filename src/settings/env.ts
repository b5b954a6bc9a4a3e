import { type AppConfig, loadConfig } from './app-config';
import { SettingsProblem } from '../platform/config/settings-reader';

type Environment = Readonly<Record<string, string>>;

/**
 * Returns the settings of this process. If a setting is missing or wrong, prints one line to stderr and exits.
 * @param overrides win over the environment
 * @param defaultsFor returns settings over which the environment wins, for the value of `PORT`
 */
export function configOrExit(overrides: Environment = {}, defaultsFor?: (port: string) => Environment): AppConfig {
  try {
    const defaults = Object.entries(defaultsFor?.(process.env.PORT || '3000') ?? {});
    return loadConfig({
      ...Object.fromEntries(defaults.filter(([key]) => !process.env[fileOf(key)])),
      ...process.env,
      ...overrides,
      ...Object.fromEntries(Object.keys(overrides).map((key) => [fileOf(key), ''])),
    });
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    process.stderr.write(`configuration: ${error.message}\n`);
    process.exit(1);
  }
}

/** All variables of this process, for references to secrets in the file of an installation. */
export const ownEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;

/** A setting that is given here and by a file would have two sources. */
const fileOf = (key: string): string => `${key}_FILE`;
