import { parseMysqlUrl } from '../database/mysql-address';
import type { SettingsReader } from './settings-reader';

/** `mysql://…` or `sqlite:PATH`, checked whole here: what the driver would complain of later names no key. */
export function readDatabaseUrl(env: SettingsReader, production: boolean): string {
  const url = env.optional('DATABASE_URL') ?? (production ? undefined : 'sqlite:./data/auth.sqlite');
  if (url === undefined) {
    env.problem('DATABASE_URL', 'is not set');
    return '';
  }
  if (!/^sqlite:./.test(url) && !isMysqlUrl(url)) {
    env.problem(
      'DATABASE_URL',
      'must be mysql://user:password@host:port/database or sqlite:PATH; of parameters mysql has ssl-mode (DISABLED, ' +
        'REQUIRED, VERIFY_CA, VERIFY_IDENTITY) and ssl-ca (a file that can be read)',
    );
  }
  return url;
}

function isMysqlUrl(url: string): boolean {
  try {
    const { host, database } = parseMysqlUrl(url);
    return url.startsWith('mysql://') && host !== '' && database !== '';
  } catch {
    return false;
  }
}
