import { defaultSender } from '../../mail/mail-settings';
import { isLoopback } from '../../platform/config/http-settings';
import type { AppConfig } from '../../settings/app-config';
import { parseMysqlUrl } from '../../platform/database/mysql-address';
import type { KeyRing } from '../../platform/crypto/key-ring';
import type { Census } from '../../platform/crypto/resealing';
import { type Finding, finding } from '../../admin/connection-checks';

/** The time limit for counting sealed values. When it ends, the counts so far are reported as lower bounds. */
const countingMs = 5000;

/**
 * Checks that the keys work. Their form was checked when the settings were read.
 * @param census counts the sealed values in the tables until the signal aborts; undefined if there are no tables
 */
export function checkKeys(
  config: AppConfig,
  keys: KeyRing,
  census: ((signal: AbortSignal) => Promise<Census>) | undefined,
): Promise<Finding> {
  return finding(
    'keys',
    async () => {
      if (keys.open('doctor', keys.seal('doctor', 'probe')) !== 'probe') throw new Error('sealing does not work');
      const { algorithm, verification } = config.jwt;
      const previous = (count: number) => (count > 1 ? ` and ${count - 1} previous` : '');
      const text = `${algorithm} with 1 key${previous(verification.length)}, data encryption with 1 key${previous(config.dataKeys.length)}`;
      if (census === undefined) return ['ok', text];
      const signal = AbortSignal.timeout(countingMs);
      const { former, unreadable } = await census(signal);
      const atLeast = signal.aborted ? 'at least ' : '';
      if (unreadable > 0) {
        return ['problem', `${text}; DATA_ENCRYPTION_KEY does not open ${atLeast}${unreadable} stored values`];
      }
      if (former > 0) return ['warn', `${text}; ${atLeast}${former} values wait for keys reseal`];
      if (config.dataKeys.length === 1) return ['ok', text];
      const rest = signal.aborted
        ? 'count with keys reseal --dry-run'
        : 'no long-lived value is encrypted with a previous key';
      return ['ok', `${text}; ${rest}`];
    },
    (error) => (error as Error).message,
  );
}

/** Warns of settings that are allowed but usually wrong in production. */
export function checkSettings({ production, http, mail, database, effective }: AppConfig): Promise<Finding> {
  return finding(
    'settings',
    () => {
      const warnings = [
        production && http.trustedProxies.length === 0
          ? 'TRUSTED_PROXIES is empty: behind a proxy all clients have the address of the proxy'
          : '',
        mail.from === defaultSender ? `MAIL_FROM is the default, ${defaultSender}: mails may be refused` : '',
        isPlainAndRemote(database.url)
          ? 'DATABASE_URL has no ssl-mode: passwords and rows cross the network unencrypted'
          : '',
        ...effective.doubts,
      ].filter((warning) => warning !== '');
      return Promise.resolve(warnings.length > 0 ? ['warn', warnings.join('; ')] : ['ok', 'nothing to warn of']);
    },
    (error) => (error as Error).message,
  );
}

function isPlainAndRemote(url: string): boolean {
  if (url.startsWith('sqlite:')) return false;
  const { host, ssl } = parseMysqlUrl(url);
  return ssl === undefined && !isLoopback(host);
}
