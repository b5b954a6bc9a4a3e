/** A released version and the last migration that it has. */
export interface Release {
  readonly version: string;
  readonly lastMigration: string;
}

/**
 * The versions from which an upgrade leads to this one, beside which it may run, and to which a roll-back leads
 * (docs/operations/upgrade.md). Each release adds its line, and its commit to test/support/former-version.ts. The line of a version
 * goes when this one can no longer run beside it.
 */
export const releases: readonly Release[] = [
  { version: '1.0.0', lastMigration: 'HeldRows1765300000000' },
  { version: '1.1.0', lastMigration: 'LegacyLogins1770700000000' },
];

/** The oldest of them. */
export const oldestRelease = releases[0]!;

/** The version before this one. */
export const formerRelease = releases.at(-1)!;
