import { Injectable } from '@nestjs/common';

/**
 * What became of a request to an identity provider. `failed`: no usable answer. `refused`: it would go to an address that is not
 * allowed. `skipped`: the provider has failed a moment ago, or too many requests wait for it.
 */
export type ProviderResult = 'answered' | 'failed' | 'refused' | 'skipped';

/** Administrators enter the issuers, so there are a few. This bounds the labels if they save very many. */
const mostIssuers = 200;

/** Counts the requests of this process to identity providers, for the metrics. */
@Injectable()
export class ProviderRequestCounts {
  private readonly counts = new Map<string, Record<ProviderResult, number>>();

  add(issuer: string, result: ProviderResult): void {
    const name = this.counts.has(issuer) || this.counts.size < mostIssuers ? issuer : 'other';
    const counts = this.counts.get(name) ?? { answered: 0, failed: 0, refused: 0, skipped: 0 };
    this.counts.set(name, counts);
    counts[result] += 1;
  }

  get all(): ReadonlyMap<string, Readonly<Record<ProviderResult, number>>> {
    return this.counts;
  }
}
