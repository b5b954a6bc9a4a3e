export interface CoverageFinding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface CoverageFigures {
  /** Lines of the catalogue. */
  readonly numbers: number;
  /** Lines whose number is in the title of a test that runs. */
  readonly titled: number;
  /** Lines for which the page names a test. */
  readonly covered: number;
  /** Lines for which the page gives a reason. */
  readonly argued: number;
  /** Tests and groups with a number in their titles. */
  readonly tests: number;
}

/** Compares the catalogue of attacks with the titles of the tests and with docs/security/coverage.md. */
export function checkCoverage(
  files: ReadonlyMap<string, string>,
  isTest: (file: string) => boolean,
): { readonly findings: readonly CoverageFinding[]; readonly figures: CoverageFigures };

/** Returns a function that tells whether a project of the jest configuration runs a file. */
export function testFilesOf(config: {
  readonly projects: readonly { readonly testMatch?: readonly string[] }[];
}): (file: string) => boolean;
