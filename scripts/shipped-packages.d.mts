export interface LockedPackage {
  readonly place: string;
  readonly name: string;
  readonly version: string;
  readonly licence?: string;
  /** What npm compares the download with. */
  readonly hash?: string;
  readonly hasInstallScript: boolean;
  /** Whether it is installed to run the service or is in the pages. */
  readonly ships: boolean;
}

/** Packages whose code is in the pages. */
export const inThePages: readonly string[];

/** Every package of the lock file. */
export function lockedPackages(lock?: object): LockedPackage[];

/** Every package of the lock file of tools/. None of them ships. */
export function lockedTools(): LockedPackage[];
