import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { SettingsReader } from './settings-reader';
import { urlOf } from '../../shared/url-text';

export type CidrRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Where the service listens, and what it believes about its clients. */
export abstract class HttpSettings {
  abstract readonly host: string;
  abstract readonly port: number;
  abstract readonly apiPrefix: string;
  abstract readonly corsOrigins: readonly string[];
  abstract readonly trustedProxies: readonly CidrRange[];
  abstract readonly apiDocs: boolean;
  abstract readonly metricsPort: number | undefined;
}

export function readHttpSettings(env: SettingsReader, production: boolean): HttpSettings {
  const port = env.count('PORT', 3000, { min: 0, max: 65_535 });
  return {
    host: env.text('HOST', production ? '0.0.0.0' : '127.0.0.1'),
    port,
    apiPrefix: readPrefix(env),
    corsOrigins: readOrigins(env),
    trustedProxies: readProxies(env),
    apiDocs: env.flag('API_DOCS', !production),
    metricsPort: readMetricsPort(env, port),
  };
}

/** Whether the host is `localhost` or a loopback address. The literal contract and the test token need such a host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback');
}

/** Clients resolve a dot segment before they ask (RFC 3986 §5.2.4), so a path with one would never be asked as it is written. */
const isPlainPath = (path: string): boolean => /^(\/(?!\.\.?(\/|$))[A-Za-z0-9._~-]+)+$/.test(path);

function readPrefix(env: SettingsReader): string {
  const prefix = env.text('API_PREFIX', '').replace(/\/+$/, '');
  if (prefix !== '' && !isPlainPath(prefix))
    env.problem('API_PREFIX', 'must be a path such as /api/v1, without dot segments (/../)');
  return prefix;
}

function readMetricsPort(env: SettingsReader, port: number): number | undefined {
  if (env.optional('METRICS_PORT') === undefined) return undefined;
  const metricsPort = env.count('METRICS_PORT', 0, { max: 65_535 });
  if (metricsPort === port && port > 0) env.problem('METRICS_PORT', 'must be another port than PORT');
  return metricsPort;
}

function readOrigins(env: SettingsReader): string[] {
  const origins = env.list('CORS_ORIGINS');
  const wellFormed = origins.every((origin) => urlOf(origin)?.origin === origin);
  if (!wellFormed)
    env.problem('CORS_ORIGINS', 'must be a list of origins such as https://portal.example.com, separated by commas');
  return origins;
}

function readProxies(env: SettingsReader): CidrRange[] {
  return env.list('TRUSTED_PROXIES').flatMap((range): CidrRange[] => {
    // ipaddr.js also accepts `10.1` and octal parts, which could mean another machine than the operator thinks.
    const [address = '', bits] = range.split('/', 2);
    const version = isIP(address);
    try {
      if (version === 0) throw new Error('not an address');
      return [ipaddr.parseCIDR(`${address}/${bits ?? (version === 4 ? 32 : 128)}`)];
    } catch {
      env.problem(
        'TRUSTED_PROXIES',
        'must be a list of addresses or CIDR ranges such as 192.0.2.0/24, separated by commas',
      );
      return [];
    }
  });
}
