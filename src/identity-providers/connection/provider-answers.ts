import type { GuardedAnswer } from '../../platform/http/guarded-request';
import { Clock } from '../../shared/clock';
import type { ProviderLimits } from './provider-limits';

interface Kept {
  readonly at: number;
  readonly answer: GuardedAnswer;
}

/**
 * Keeps what a provider says to everybody (discovery, keys) for a few seconds, so that a flood of sign-ins or of tokens with
 * unknown keys makes one request. Parallel callers wait for the same one. A rotation of keys is seen after these seconds.
 */
export class ProviderAnswers {
  private readonly kept = new Map<string, Kept>();
  private readonly pending = new Map<string, Promise<GuardedAnswer>>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: ProviderLimits,
  ) {}

  async of(url: string, ask: () => Promise<GuardedAnswer>, fresh: boolean): Promise<GuardedAnswer> {
    const known = this.kept.get(url);
    // The absolute value, so that a clock that is set back does not prolong it.
    const isYoung = known !== undefined && Math.abs(this.clock.now().getTime() - known.at) < this.limits.keptMs;
    if (isYoung && !fresh) return known.answer;
    const asked = (fresh ? undefined : this.pending.get(url)) ?? ask();
    this.pending.set(url, asked);
    try {
      const answer = await asked;
      this.keep(url, answer);
      return answer;
    } finally {
      if (this.pending.get(url) === asked) this.pending.delete(url);
    }
  }

  /** When there are too many, the oldest one goes: an insertion moves a known one to the end. */
  private keep(url: string, answer: GuardedAnswer): void {
    this.kept.delete(url);
    this.kept.set(url, { at: this.clock.now().getTime(), answer });
    const [oldest] = this.kept.keys();
    if (this.kept.size > this.limits.mostKept && oldest !== undefined) this.kept.delete(oldest);
  }
}
