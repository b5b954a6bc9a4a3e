import { DomainError } from '../../shared/errors/domain-error';
import { tooManyRequests } from '../../shared/errors/error-catalogue';

/**
 * Limits the long requests of one kind in this process. Each administrator has one place, so that one of them cannot take
 * them all.
 */
export class Places {
  private readonly taken = new Set<string>();

  /** @param retrySeconds what a refused client is told. It does not learn when the others end. */
  constructor(
    private readonly atOnce: number,
    private readonly retrySeconds: number,
  ) {}

  /** @returns the function that gives the place back @throws DomainError COMMON_429001 */
  enter(uid: string): () => void {
    if (this.taken.has(uid) || this.taken.size >= this.atOnce) {
      throw new DomainError(tooManyRequests, { retry_after: this.retrySeconds });
    }
    this.taken.add(uid);
    return () => void this.taken.delete(uid);
  }
}
