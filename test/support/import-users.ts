import type { ImportReport, UserImport } from '../../src/cli/user-import';

/** Imports a file as `user import` does, without an interruption, and returns its report. */
export async function importUsers(imports: UserImport, file: string): Promise<ImportReport> {
  const report: ImportReport = { rows: 0, created: 0, skipped: 0, failed: [] };
  const { signal } = new AbortController();
  await imports.run(file, report, { dryRun: false, rules: 'policy', progress: () => undefined, signal });
  return report;
}
