import { readFileSync } from 'node:fs';
import { connect, isIP, type Socket } from 'node:net';
import type { SslOptions } from 'mysql2';

/** In milliseconds. A connection that a firewall has dropped is noticed before it is used. */
export const keepAliveInitialDelay = 10_000;

interface MysqlAddress {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  readonly ssl?: SslOptions;
}

/**
 * Parses `mysql://user:password@host:port/database`. The parameters for TLS are those of the MySQL clients: `ssl-mode`
 * (DISABLED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY) and `ssl-ca` (a PEM file).
 * @throws Error for any other parameter
 */
export function parseMysqlUrl(url: string): MysqlAddress {
  const parsed = new URL(url);
  const parameters = new Map([...parsed.searchParams].map(([key, value]) => [key.toLowerCase(), value]));
  const mode = (
    parameters.get('ssl-mode') ?? (parameters.has('ssl-ca') ? 'VERIFY_IDENTITY' : 'DISABLED')
  ).toUpperCase();
  for (const key of parameters.keys()) {
    if (key !== 'ssl-mode' && key !== 'ssl-ca') throw new Error(`DATABASE_URL has an unknown parameter: ${key}`);
  }
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? 3306 : Number(parsed.port),
    username: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)),
    ssl: sslOptions(mode, parameters.get('ssl-ca')),
  };
}

function sslOptions(mode: string, caFile: string | undefined): SslOptions | undefined {
  const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
  switch (mode) {
    case 'DISABLED':
      return undefined;
    case 'REQUIRED':
      return { rejectUnauthorized: false };
    case 'VERIFY_CA':
      return { ca, rejectUnauthorized: true, verifyIdentity: false };
    case 'VERIFY_IDENTITY':
      return { ca, rejectUnauthorized: true, verifyIdentity: true };
    default:
      throw new Error('DATABASE_URL: ssl-mode must be DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY');
  }
}

/**
 * For a server that is named by its IP address and whose identity is verified: opens the connection instead of mysql2.
 * mysql2 gives TLS no name there, because SNI has none for an address. Node then compares the certificate with `_host` of
 * the socket, which it sets for host names only, and otherwise with `localhost`. It would accept a certificate for
 * `localhost`, and refuse one for the address.
 */
export function verifiableSocket(host: string, port: number): (() => Socket) | undefined {
  if (isIP(host) === 0) return undefined;
  return () =>
    Object.assign(connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay }), { _host: host });
}
