/** A released version and the last migration that it has. Each release adds its line; the last one is the version before this one. */
export interface Release {
  readonly version: string;
  readonly lastMigration: string;
}

export const releases: readonly Release[] = [{ version: '1.0.0', lastMigration: 'HeldRows1765300000000' }];

/** The version beside which this one may run, and to which a roll-back leads (docs/operations/upgrade.md). */
export const formerRelease = releases.at(-1)!;
