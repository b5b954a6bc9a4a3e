import { parseMysqlUrl } from '../database/mysql-address';
import { type SettingsReader, textOfFile } from './settings-reader';

export abstract class DatabaseSettings {
  abstract readonly url: string;
  /** The file of `DATABASE_URL_FILE`, which is read again when the server refuses new connections. */
  abstract readonly urlFile: string | undefined;
  abstract readonly poolSize: number;
  abstract readonly migrateOnStart: boolean;
  abstract readonly sqliteSynchronous: 'full' | 'normal';
  /**
   * Whether statements have the time limits of a service that answers within 5 s. The command line sets false.
   */
  abstract readonly timeLimits: boolean;
}

export function readDatabaseSettings(env: SettingsReader, production: boolean): DatabaseSettings {
  return {
    url: readDatabaseUrl(env, production),
    urlFile: env.fileOf('DATABASE_URL'),
    poolSize: env.count('DATABASE_POOL_SIZE', 10, { max: 1000 }),
    migrateOnStart: env.flag('MIGRATE_ON_START', !production),
    sqliteSynchronous: env.choice('SQLITE_SYNCHRONOUS', ['full', 'normal'], 'full'),
    timeLimits: true,
  };
}

/**
 * Reads `mysql://…` or `sqlite:PATH` and checks all of it, because a later error of the driver would name no setting.
 */
function readDatabaseUrl(env: SettingsReader, production: boolean): string {
  const url = env.optional('DATABASE_URL') ?? (production ? undefined : 'sqlite:./data/auth.sqlite');
  if (url === undefined) {
    env.problem('DATABASE_URL', 'is required in production');
    return '';
  }
  if (!/^sqlite:./.test(url) && !isMysqlUrl(url)) {
    env.problem(
      'DATABASE_URL',
      'must be mysql://user:password@host:port/database or sqlite:PATH; the parameters of mysql are ssl-mode ' +
        '(DISABLED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY) and ssl-ca (a readable PEM file)',
    );
  }
  return url;
}

/**
 * Reads the file of `DATABASE_URL_FILE` again while the program runs.
 * @returns undefined if the file cannot be read or has no valid URL of MySQL, as while a tool replaces it
 */
export function rereadDatabaseUrl(file: string): string | undefined {
  try {
    const url = textOfFile(file);
    return url !== undefined && isMysqlUrl(url) ? url : undefined;
  } catch {
    return undefined;
  }
}

function isMysqlUrl(url: string): boolean {
  try {
    const { host, database } = parseMysqlUrl(url);
    return url.startsWith('mysql://') && host !== '' && database !== '';
  } catch {
    return false;
  }
}
