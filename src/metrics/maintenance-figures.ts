import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { Injectable } from '@nestjs/common';
import { LogSearch } from '../audit/log-search';
import { auditLog } from '../audit/log-tables';
import { DirectorySettings } from '../directory/ldap-settings';
import { Clock } from '../shared/clock';

const dayMs = 86_400_000;

/** Node 22.15 has it, and Node 20 has not. */
interface WithAuthorities {
  getCACertificates?(kind: 'extra'): string[];
}

/** What somebody has to do in time: the purge, and certificates that end. A scrape reads it, and no decision does. */
@Injectable()
export class MaintenanceFigures {
  private ends: ReadonlyMap<string, number> | undefined;

  constructor(
    private readonly logs: LogSearch,
    private readonly directory: DirectorySettings,
    private readonly clock: Clock,
  ) {}

  /** When a purge has last come to its end, in seconds. Undefined: never, or longer ago than the logs are kept. */
  async lastPurge(): Promise<number | undefined> {
    const { items } = await this.logs.page(auditLog, { event: 'PURGE_FINISHED' }, undefined, 1, undefined);
    const [newest] = items;
    return newest === undefined ? undefined : newest.createdAt.getTime() / 1000;
  }

  /** The days until the first certificate of each configured authority ends, by the setting. Files are read at the start only. */
  certificateDays(): ReadonlyMap<string, number> {
    this.ends ??= new Map([
      ...endOf('LDAP_CA_FILE', this.directory.ldap?.ca ?? ''),
      ...endOf('NODE_EXTRA_CA_CERTS', ((tls as WithAuthorities).getCACertificates?.('extra') ?? []).join('\n')),
    ]);
    const now = this.clock.now().getTime();
    return new Map([...this.ends].map(([setting, end]) => [setting, (end - now) / dayMs]));
  }
}

function endOf(setting: string, pem: string): [string, number][] {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const ends = certificates.flatMap((text) => {
    try {
      return [Date.parse(new X509Certificate(text).validTo)];
    } catch {
      // A certificate that cannot be read is reported by the first connection that needs it.
      return [];
    }
  });
  return ends.length === 0 ? [] : [[setting, Math.min(...ends)]];
}
