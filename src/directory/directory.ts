import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { DomainError } from '../shared/errors/domain-error';
import { directoryUnavailable } from '../shared/errors/error-catalogue';
import { AppConfig } from '../platform/config/app-config';
import { Tracing } from '../platform/tracing/tracing';
import { DirectoryFailure } from './protocol/directory-failure';
import { type Credential, DirectoryServer } from './client/directory-server';
import type { Verdict } from './verdict';

/** How long a server that failed is asked last, and its failure is not logged again. */
const remembersMs = 10_000;

interface Candidate {
  readonly server: DirectoryServer;
  /** On the monotonic clock; 0 while it works. */
  deadUntil: number;
}

/** Asks the servers of `LDAP_URL` in their order until one judges (§5.7, decisions.md 7). */
@Injectable()
export class Directory {
  private readonly logger = new Logger('directory');
  private readonly candidates: readonly Candidate[];
  private readonly timeoutMs: number;

  constructor(
    { ldap }: AppConfig,
    @Optional() @Inject(Tracing) private readonly tracing: Tracing | undefined,
  ) {
    this.candidates = (ldap?.urls ?? []).map((url) => ({ server: new DirectoryServer(url, ldap!), deadUntil: 0 }));
    this.timeoutMs = ldap?.timeoutMs ?? 0;
  }

  /**
   * @param until on the clock of `performance.now()`; the answer is there by then, whatever happens.
   * @throws DomainError LOGIN_503001 when no server could judge, or no directory is configured.
   */
  async judge(credential: Credential, until: number): Promise<Verdict> {
    const order = this.inOrder();
    for (const [n, candidate] of order.entries()) {
      const left = until - performance.now();
      if (left <= 0) break;
      try {
        // One of several may not use up the time of those behind it.
        const budget = n === order.length - 1 ? left : Math.min(left, this.timeoutMs);
        const verdict = await this.ask(candidate.server, credential, budget);
        candidate.deadUntil = 0;
        return verdict;
      } catch (error) {
        if (!this.worthAnother(candidate, error)) break;
      }
    }
    throw new DomainError(directoryUnavailable);
  }

  /** One span for each server: the search and both binds. */
  private ask(server: DirectoryServer, credential: Credential, budgetMs: number): Promise<Verdict> {
    const asked = () => server.judge(credential, budgetMs);
    return this.tracing === undefined ? asked() : this.tracing.span('LDAP login', {}, asked);
  }

  /**
   * Those that work first. When a dead one's time is over, one login goes there first and finds out; it is marked dead
   * beforehand, so that the others do not all pay its time-out with that one.
   */
  private inOrder(): Candidate[] {
    const now = performance.now();
    const recovering = this.candidates.find(({ deadUntil }) => deadUntil !== 0 && deadUntil <= now);
    const alive = this.candidates.filter((one) => one.deadUntil === 0 || one === recovering);
    const dead = this.candidates.filter((one) => !alive.includes(one));
    if (recovering !== undefined) recovering.deadUntil = now + remembersMs;
    return [...alive, ...dead];
  }

  private worthAnother(candidate: Candidate, error: unknown): boolean {
    if (!(error instanceof DirectoryFailure)) throw error;
    const now = performance.now();
    if (candidate.deadUntil <= now || !error.ofThisServerOnly) {
      this.logger.error({ server: candidate.server.label, reason: error.reason, code: error.code }, error.message);
    }
    if (error.ofThisServerOnly) candidate.deadUntil = now + remembersMs;
    return error.ofThisServerOnly;
  }
}
