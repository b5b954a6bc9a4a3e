import type { INestApplicationContext } from '@nestjs/common';
import { UserAdministration } from '../../src/admin/user-administration';
import { formatOf } from '../../src/cli/import-rows';
import { PasswordAges } from '../../src/cli/password-ages';
import { type ImportReport, UserImport } from '../../src/cli/user-import';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { PasswordSettings } from '../../src/users/password-settings';
import { Clock } from '../../src/shared/clock';
import { UsersRepository } from '../../src/users/users.repository';

/** The import of the command line, with the parts of a running service. */
export function userImport(app: INestApplicationContext): UserImport {
  const ages = new PasswordAges(app.get(PasswordSettings), app.get(Clock));
  return new UserImport(
    app.get(UsersRepository),
    app.get(UserAdministration),
    app.get(PasswordHasher),
    app.get(Clock),
    ages,
  );
}

/** Imports a file as `user import` does, without an interruption, and returns its report. */
export async function importUsers(imports: UserImport, file: string): Promise<ImportReport> {
  const report: ImportReport = { rows: 0, created: 0, skipped: 0, failed: [] };
  const { signal } = new AbortController();
  await imports.run(file, report, {
    format: formatOf(file),
    dryRun: false,
    rules: 'policy',
    ages: { unknown: 0, expired: 0 },
    progress: () => undefined,
    signal,
  });
  return report;
}
