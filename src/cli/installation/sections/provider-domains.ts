import { normalDomain } from '../../../admin/identity-provider-rules';
import type { Entry } from '../entries';
import type { Report } from '../installation-file';
import type { Step } from '../section';

interface WithDomains {
  readonly id: string;
  readonly domains?: readonly string[];
}

/** Reports a domain that two providers would have after the `apply`, counting those that the file does not name. */
export function reportDoubleDomains(
  entries: readonly Entry<WithDomains>[],
  stored: ReadonlyMap<string, { readonly domains: readonly string[] }>,
  report: Report,
): void {
  const lists = new Map([...stored].map(([id, { domains }]) => [id, domains]));
  for (const { given } of entries) if (given.domains) lists.set(given.id, given.domains.map(normalDomain));
  for (const { at, given } of entries) {
    given.domains?.forEach((domain, i) => {
      const other = [...lists].find(([id, domains]) => id !== given.id && domains.includes(normalDomain(domain)));
      if (other) report([...at, 'domains', i], `belongs to the identity provider ${other[0]}`);
    });
  }
}

/**
 * A domain belongs to one provider, so the step that gives it up comes before the one that takes it. Where providers exchange their
 * domains there is no such order, and the first of them is refused.
 */
export function givingFirst(steps: readonly Step[]): Step[] {
  const listOf = (domains: unknown) => (Array.isArray(domains) ? (domains as string[]) : []);
  const givers = new Map(
    steps.flatMap((step) => {
      const kept = listOf(step.fields.domains?.to);
      const given = listOf(step.fields.domains?.from).filter((domain) => !kept.includes(domain));
      return given.map((domain) => [domain, step] as const);
    }),
  );
  const placed = new Set<Step>();
  const withGivers = (step: Step): Step[] => {
    if (placed.has(step)) return [];
    placed.add(step);
    const needed = listOf(step.fields.domains?.to).flatMap((domain) => givers.get(domain) ?? []);
    return [...needed.flatMap(withGivers), step];
  };
  return steps.flatMap(withGivers);
}
