import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { boundedRequest } from '../../platform/http/bounded-request';
import type { UpgradeFinding } from './verdict';

export interface Replica {
  readonly url: string;
  /** Null when it does not answer. */
  readonly version: string | null;
}

const bounds = { timeoutMs: 5000, largestBody: 5_000_000 };

/**
 * Asks the metrics of the running replicas for their version, which version 1.0.0 tells too. A name that has several addresses, as
 * a headless Service of Kubernetes has, is a replica at each of them.
 * @param urls addresses of `METRICS_PORT`
 */
export async function askReplicas(urls: readonly string[]): Promise<Replica[]> {
  const all = (await Promise.all(urls.map(addressesOf))).flat();
  return Promise.all(
    all.map(async (url) => {
      const answer = await boundedRequest(new URL('/metrics', url).toString(), bounds);
      const text = 'text' in answer ? answer.text : '';
      return { url, version: /^auth_build_info\{[^}]*\bversion="([^"]+)"/m.exec(text)?.[1] ?? null };
    }),
  );
}

async function addressesOf(url: string): Promise<string[]> {
  const parsed = new URL(url);
  const name = parsed.hostname.replace(/^\[|\]$/g, '');
  // The certificate of https has the name, not the addresses.
  if (parsed.protocol !== 'http:' || isIP(name) !== 0 || name === 'localhost') return [parsed.origin];
  try {
    const found = await lookup(name, { all: true });
    return found.map(({ address, family }) => {
      parsed.hostname = family === 6 ? `[${address}]` : address;
      return parsed.origin;
    });
  } catch {
    return [parsed.origin];
  }
}

/**
 * Only the versions of migrations/releases.ts may run beside this one (docs/operations/upgrade.md).
 * @param released these versions, the oldest first
 */
export function judgeReplica({ url, version }: Replica, own: string, released: readonly string[]): UpgradeFinding {
  const finding = (status: UpgradeFinding['status'], text: string): UpgradeFinding => ({
    check: 'replicas',
    status,
    text: `${url} ${text}`,
  });
  if (version === null) return finding('unknown', 'does not tell its version: give the address of its METRICS_PORT');
  if (version === own || released.includes(version)) return finding('ok', `runs ${version}`);
  if (isNewer(version, own)) return finding('warn', `runs ${version}, which is newer: this is a roll-back`);
  const others = released.filter((one) => one !== own).join(' and ');
  return finding('no', `runs ${version}: only ${others} may run beside ${own}`);
}

function isNewer(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) > 0;
}
