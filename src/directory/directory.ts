import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { directoryUnavailable } from '../shared/errors/error-catalogue';
import { avoidedMs, repeatedLogMs } from './ldap-limits';
import { DirectorySettings, type LdapSettings } from './ldap-settings';
import { Tracing } from '../platform/tracing/tracing';
import { DirectoryServer } from './client/directory-server';
import { loadLdapLibrary } from './client/ldap-library';
import type { PersonQuery } from './client/person-search';
import { DirectoryFailure } from './protocol/directory-failure';
import type { DirectoryPerson, Finding, Verdict } from './person';

interface Candidate {
  readonly server: DirectoryServer;
  /** Until this time the server is avoided. On the monotonic clock; 0 while the server works. */
  avoidedUntil: number;
  /** When its failure was last logged. */
  loggedAt: Date;
}

/**
 * Finds people and judges their passwords at the servers of `LDAP_URL`, with failover in their order
 * (docs/spec/decisions.md#7).
 */
@Injectable()
export class Directory {
  private readonly logger = new Logger('directory');
  private readonly ldap: LdapSettings | undefined;
  private readonly candidates: readonly Candidate[];

  constructor(
    { ldap }: DirectorySettings,
    private readonly clock: Clock,
    @Optional() @Inject(Tracing) private readonly tracing: Tracing | undefined,
  ) {
    this.ldap = ldap;
    this.candidates = (ldap?.urls ?? []).map((url) => ({
      server: new DirectoryServer(url, ldap!),
      avoidedUntil: 0,
      loggedAt: new Date(0),
    }));
  }

  /**
   * Loads the client while the server starts.
   * @throws DirectoryFailure when its packages cannot be loaded: then no directory login would ever succeed
   */
  async load(): Promise<void> {
    if (this.ldap !== undefined) await loadLdapLibrary();
  }

  /**
   * Finds a person by a name that `LDAP_SEARCH_FILTER` accepts, or by the id of the entry.
   * @param until the end of the time limit, on the clock of `performance.now()`. The promise settles by then, even if
   *   no server answers.
   * @throws DomainError LOGIN_503001 when no server could answer, or no directory is configured
   */
  find(query: PersonQuery, until: number): Promise<Finding> {
    return this.ask('LDAP search', until, (server, budget) => server.find(query, budget));
  }

  /** Checks the password of a person who was found. The time limit and the errors are those of `find`. */
  judge(person: Pick<DirectoryPerson, 'dn' | 'id'>, password: string, until: number): Promise<Verdict> {
    return this.ask('LDAP login', until, (server, budget) => server.judge(person, password, budget));
  }

  private async ask<T>(
    span: string,
    until: number,
    question: (server: DirectoryServer, budgetMs: number) => Promise<T>,
  ): Promise<T> {
    if (this.ldap === undefined) throw new DomainError(directoryUnavailable);
    const order = this.inOrder();
    for (const [n, candidate] of order.entries()) {
      const left = until - performance.now();
      if (left <= 0) break;
      try {
        // A silent server must leave time for the servers after it.
        const budget = n === order.length - 1 ? left : Math.min(left, this.ldap.timeoutMs);
        const answer = await this.traced(span, () => question(candidate.server, budget));
        candidate.avoidedUntil = 0;
        return answer;
      } catch (error) {
        if (!this.mayTryNext(candidate, error)) break;
      }
    }
    throw new DomainError(directoryUnavailable);
  }

  /** One span for each server. */
  private traced<T>(span: string, work: () => Promise<T>): Promise<T> {
    return this.tracing === undefined ? work() : this.tracing.span(span, {}, work);
  }

  /**
   * Returns the working servers first. When the time of an avoided server is over, one question tries this server at its
   * configured position again. The server is marked as avoided again before this question starts, so that the other
   * questions do not wait for its time-out as well.
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
    // The absolute value, so that a clock that is set back does not silence the log.
    const silentMs = Math.abs(this.clock.now().getTime() - candidate.loggedAt.getTime());
    if (candidate.avoidedUntil <= now || !error.ofThisServerOnly || silentMs >= repeatedLogMs) {
      candidate.loggedAt = this.clock.now();
      this.logger.error({ server: candidate.server.label, reason: error.reason, code: error.code }, error.message);
    }
    if (error.ofThisServerOnly) candidate.avoidedUntil = now + avoidedMs;
    return error.ofThisServerOnly;
  }
}
