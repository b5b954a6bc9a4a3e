import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { DomainError } from '../shared/errors/domain-error';
import { directoryUnavailable } from '../shared/errors/error-catalogue';
import { AppConfig } from '../platform/config/app-config';
import type { LdapConfig } from '../platform/config/ldap-config';
import { Tracing } from '../platform/tracing/tracing';
import { DirectoryServer } from './client/directory-server';
import { filterFor, filterForExactName } from './client/search-filter';
import { DirectoryFailure } from './protocol/directory-failure';
import type { Verdict } from './verdict';

/** After a failure a server is avoided for this long: it is tried last, and further failures are not logged. */
const avoidedMs = 10_000;

export interface DirectoryCredential {
  readonly name: string;
  readonly password: string;
  /**
   * True if `LDAP_ATTR_LOGIN` of the entry must be `name` as well. An entry found by an alias is then `unknown`.
   */
  readonly exactName: boolean;
}

interface Candidate {
  readonly server: DirectoryServer;
  /** Until this time the server is avoided. On the monotonic clock; 0 while the server works. */
  avoidedUntil: number;
}

/** Judges credentials at the servers of `LDAP_URL`, with failover in their order (docs/spec/decisions.md#7). */
@Injectable()
export class Directory {
  private readonly logger = new Logger('directory');
  private readonly ldap: LdapConfig | undefined;
  private readonly candidates: readonly Candidate[];

  constructor(
    { ldap }: AppConfig,
    @Optional() @Inject(Tracing) private readonly tracing: Tracing | undefined,
  ) {
    this.ldap = ldap;
    this.candidates = (ldap?.urls ?? []).map((url) => ({ server: new DirectoryServer(url, ldap!), avoidedUntil: 0 }));
  }

  /**
   * @param until the end of the time limit, on the clock of `performance.now()`. The promise settles by then, even if
   *   no server answers.
   * @throws DomainError LOGIN_503001 when no server could judge, or no directory is configured
   */
  async judge(credential: DirectoryCredential, until: number): Promise<Verdict> {
    if (this.ldap === undefined) throw new DomainError(directoryUnavailable);
    const filter = searchFilter(this.ldap, credential);
    const order = this.inOrder();
    for (const [n, candidate] of order.entries()) {
      const left = until - performance.now();
      if (left <= 0) break;
      try {
        // A silent server must leave time for the servers after it.
        const budget = n === order.length - 1 ? left : Math.min(left, this.ldap.timeoutMs);
        const { password } = credential;
        const verdict = await this.traced(() => candidate.server.judge({ filter, password }, budget));
        candidate.avoidedUntil = 0;
        return verdict;
      } catch (error) {
        if (!this.mayTryNext(candidate, error)) break;
      }
    }
    throw new DomainError(directoryUnavailable);
  }

  /** One span for each server. It covers the search and both binds. */
  private traced(judge: () => Promise<Verdict>): Promise<Verdict> {
    return this.tracing === undefined ? judge() : this.tracing.span('LDAP login', {}, judge);
  }

  /**
   * Returns the working servers first. When the time of an avoided server is over, one login tries this server at its
   * configured position again. The server is marked as avoided again before this login starts, so that the other logins
   * do not wait for its time-out as well.
   */
  private inOrder(): Candidate[] {
    const now = performance.now();
    const recovering = this.candidates.find(({ avoidedUntil }) => avoidedUntil !== 0 && avoidedUntil <= now);
    const tried = this.candidates.filter((one) => one.avoidedUntil === 0 || one === recovering);
    const avoided = this.candidates.filter((one) => !tried.includes(one));
    if (recovering !== undefined) recovering.avoidedUntil = now + avoidedMs;
    return [...tried, ...avoided];
  }

  private mayTryNext(candidate: Candidate, error: unknown): boolean {
    if (!(error instanceof DirectoryFailure)) throw error;
    const now = performance.now();
    if (candidate.avoidedUntil <= now || !error.ofThisServerOnly) {
      this.logger.error({ server: candidate.server.label, reason: error.reason, code: error.code }, error.message);
    }
    if (error.ofThisServerOnly) candidate.avoidedUntil = now + avoidedMs;
    return error.ofThisServerOnly;
  }
}

function searchFilter(ldap: LdapConfig, { name, exactName }: DirectoryCredential): string {
  if (exactName) return filterForExactName(ldap.searchFilter, ldap.attributes.login, name);
  return filterFor(ldap.searchFilter, name);
}
