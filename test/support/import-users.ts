import type { INestApplicationContext } from '@nestjs/common';
import { UserAdministration } from '../../src/admin/user-administration';
import { operatorAuthority } from '../../src/admin/authority';
import { readRows } from '../../src/admin/import-rows';
import { PasswordAges } from '../../src/admin/password-ages';
import { UserImport } from '../../src/admin/user-import';
import { count, type ImportReport } from '../../src/cli/import-command';
import { chunksOf, formatOf } from '../../src/cli/input';
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
  const rows = readRows(chunksOf(file), formatOf(file));
  const ages = { unknown: 0, expired: 0 };
  const options = { by: operatorAuthority, dryRun: false, rules: 'policy', ages } as const;
  for await (const row of imports.run(rows, options)) count(report, row);
  return report;
}
