import { DomainError } from '../../../../shared/errors/domain-error';
import { directoryUnavailable } from '../../../../shared/errors/error-catalogue';

interface Waiting {
  /** How many may be under way for this key; throws when none ever may. */
  readonly allowance: () => Promise<number>;
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
  gone: boolean;
}

interface Line {
  underWay: number;
  /** Moves when somebody leaves: what was read of the allowance before is then out of date. */
  left: number;
  admitting: boolean;
  readonly waiting: Waiting[];
}

/**
 * Turns at the directory: a few at a time for each user, as many as there are guesses left before the lock, and a bounded
 * number over all. A waiting login holds nothing but its own request, and no longer than its deadline. So a burst of wrong
 * passwords meets our lock before the directory's, and a silent directory stops nobody but its own users (W08, W20).
 */
export class Turns {
  private readonly lines = new Map<string, Line>();
  private readonly anybody: Line = { underWay: 0, left: 0, admitting: false, waiting: [] };
  private waitingCount = 0;

  constructor(private readonly limits: { readonly perKey: number; readonly total: number; readonly waiting: number }) {}

  /**
   * @param until on the clock of `performance.now()`
   * @throws DomainError LOGIN_503001 when too many wait or the wait is over; whatever `allowance` or `work` throws.
   */
  async take<T>(key: string, until: number, allowance: () => Promise<number>, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { underWay: 0, left: 0, admitting: false, waiting: [] };
    this.lines.set(key, line);
    try {
      await this.enter(line, until, async () => Math.min(await allowance(), this.limits.perKey));
      try {
        await this.enter(this.anybody, until, () => Promise.resolve(this.limits.total));
        try {
          return await work();
        } finally {
          this.leave(this.anybody);
        }
      } finally {
        this.leave(line);
      }
    } finally {
      if (line.underWay === 0 && line.waiting.length === 0) this.lines.delete(key);
    }
  }

  private enter(line: Line, until: number, allowance: () => Promise<number>): Promise<void> {
    if (this.waitingCount >= this.limits.waiting) return Promise.reject(new DomainError(directoryUnavailable));
    return new Promise((resolve, reject) => {
      const settled = (settle: () => void) => () => {
        if (one.gone) return;
        one.gone = true;
        this.waitingCount--;
        clearTimeout(timer);
        line.waiting.splice(line.waiting.indexOf(one), 1);
        settle();
      };
      const timer = setTimeout(
        settled(() => reject(new DomainError(directoryUnavailable))),
        Math.max(0, until - performance.now()),
      );
      const one: Waiting = {
        allowance,
        admit: settled(() => {
          line.underWay++;
          resolve();
        }),
        refuse: (error) => settled(() => reject(error))(),
        gone: false,
      };
      this.waitingCount++;
      line.waiting.push(one);
      void this.admit(line);
    });
  }

  private leave(line: Line): void {
    line.underWay--;
    line.left++;
    void this.admit(line);
  }

  /** In the order of arrival, one after the other, so that each sees what those before it have recorded. */
  private async admit(line: Line): Promise<void> {
    if (line.admitting) return;
    line.admitting = true;
    for (let first = line.waiting[0]; first !== undefined; first = line.waiting[0]) {
      const { left } = line;
      const allowed = await first.allowance().catch((error: unknown) => first.refuse(error));
      if (first.gone || left !== line.left) continue;
      if (line.underWay >= (allowed ?? 0)) break;
      first.admit();
    }
    line.admitting = false;
  }
}
