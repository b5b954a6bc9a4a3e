import { Injectable } from '@nestjs/common';

const kinds = ['Users', 'Groups', 'ServiceProviderConfig', 'ResourceTypes', 'Schemas'] as const;

/** Counts the requests by SCIM in this process, for the metrics. No label has a value that a client chose. */
@Injectable()
export class ProvisioningCounts {
  private readonly counts = new Map<string, Record<'method' | 'kind' | 'result', string> & { count: number }>();

  /** @param resource the first part of the path below `/scim/v2` @param status of the answer */
  add(method: string, resource: string | undefined, status: number): void {
    const kind = kinds.find((one) => one === resource) ?? 'other';
    const result = status < 400 ? 'success' : String(status);
    const key = `${method} ${kind} ${result}`;
    const entry = this.counts.get(key) ?? { method, kind, result, count: 0 };
    this.counts.set(key, entry);
    entry.count += 1;
  }

  get all(): Iterable<Readonly<Record<'method' | 'kind' | 'result', string>> & { readonly count: number }> {
    return this.counts.values();
  }
}
