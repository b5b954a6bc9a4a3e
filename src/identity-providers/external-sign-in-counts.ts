import { Injectable } from '@nestjs/common';

/** Counts the sign-ins at identity providers in this process, for the metrics. */
@Injectable()
export class ExternalSignInCounts {
  private readonly counts = new Map<string, { readonly provider: string; readonly result: string; count: number }>();

  /**
   * @param provider the id of a provider that has a row, never a text that a client chose
   * @param result `success`, `mfa`, or the error code
   */
  add(provider: string, result: string): void {
    const key = `${provider} ${result}`;
    const entry = this.counts.get(key) ?? { provider, result, count: 0 };
    this.counts.set(key, entry);
    entry.count += 1;
  }

  get all(): Iterable<{ readonly provider: string; readonly result: string; readonly count: number }> {
    return this.counts.values();
  }
}
