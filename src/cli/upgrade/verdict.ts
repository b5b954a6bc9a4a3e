export const upgradeChecks = [
  'database',
  'schema',
  'replicas',
  'settings',
  'migrations',
  'sessions',
  'space',
  'backup',
] as const;
export type UpgradeCheck = (typeof upgradeChecks)[number];

/**
 * `no`: the upgrade has to wait. `unknown`: it could not be asked. `warn` and `ok` let it go on, and `info` tells what no program
 * can know.
 */
export interface UpgradeFinding {
  readonly check: UpgradeCheck;
  readonly status: 'ok' | 'info' | 'warn' | 'no' | 'unknown';
  /** One line, without a secret, a user name or the value of a setting. */
  readonly text: string;
}

export type Verdict = 'go' | 'no' | 'unknown';

/** A reason against weighs more than what could not be asked. */
export function verdictOf(findings: readonly UpgradeFinding[]): Verdict {
  if (findings.some(({ status }) => status === 'no')) return 'no';
  return findings.some(({ status }) => status === 'unknown') ? 'unknown' : 'go';
}

export const exitCodes: Readonly<Record<Verdict, number>> = { go: 0, no: 1, unknown: 2 };

/** What the operator has decided to bear, such as a rebuild in a night without logins. */
export const accepting =
  (accepted: readonly UpgradeCheck[]) =>
  (finding: UpgradeFinding): UpgradeFinding =>
    finding.status === 'no' && accepted.includes(finding.check)
      ? { ...finding, status: 'warn', text: `${finding.text} (accepted)` }
      : finding;
