import type { Command } from 'commander';
import { CliProblem, inContext, oneOf, print } from './cli-context';
import { interruptible } from './interruption';
import { PasswordAges } from '../admin/password-ages';
import { operatorAuthority } from '../admin/authority';
import { readRows, rowFormats } from '../admin/import-rows';
import { mostPlanned, type PlannedUser, plannedUser } from '../admin/planned-users';
import { type ImportedRow, UserImport } from '../admin/user-import';
import { chunksOf, formatOf } from './input';

export interface ImportReport {
  rows: number;
  created: number;
  /** Rows whose login name exists already. Importing the same file again therefore changes nothing. */
  skipped: number;
  failed: { row: number; login_name: string; problem: string }[];
  /** Of a dry run: the first users that would be made. */
  created_rows?: ({ row: number } & PlannedUser)[];
}

interface Options {
  format?: string;
  dryRun?: boolean;
  force?: boolean;
  json?: boolean;
}

/** `user import`: can be stopped between two rows and run again. */
export function addImportCommand(user: Command): void {
  user
    .command('import')
    .description('accounts from a .csv, .jsonl or .ndjson file, or from standard input (-)')
    .argument('<file>')
    .option('--format <format>', `${rowFormats.join(', ')}, for - and for a file whose name does not end in it`)
    .option('--dry-run', 'check every row, write nothing')
    .option('--force', 'accept passwords that do not meet the policy')
    .option('--json')
    .action((file: string, { format: given, dryRun = false, force, json }: Options) => {
      const format = given === undefined ? formatOf(file) : oneOf('the format', given, rowFormats);
      return inContext(async (context) => {
        const report: ImportReport = {
          ...{ rows: 0, created: 0, skipped: 0, failed: [] },
          ...(dryRun && { created_rows: [] }),
        };
        const rules = force ? 'waived' : 'policy';
        // Progress is for people. A program that reads the JSON report expects only problems on standard error.
        const progress = (rows: number) => void (json || process.stderr.write(`${rows} rows\n`));
        const ages = { unknown: 0, expired: 0 };
        const interrupted = await interruptible(
          async (signal) => {
            const options = { by: operatorAuthority, dryRun, rules, ages } as const;
            for await (const row of context.get(UserImport).run(readRows(chunksOf(file), format), options)) {
              count(report, row);
              if (report.rows % 1000 === 0) progress(report.rows);
              if (signal.aborted) return;
            }
          },
          () => `after ${done(report)} rows; run it again for the rest, existing rows are skipped`,
        );
        printReport(report, json, dryRun ? context.get(PasswordAges).warnings(ages) : undefined);
        if (interrupted) throw interrupted;
        const failed = report.failed.length;
        if (failed > 0)
          throw new CliProblem(
            `${failed} of ${report.rows} rows failed: correct them and run the import again, existing rows are skipped`,
          );
      });
    });
}

/** @param report is filled row by row, so that it also describes an import that was stopped */
export function count(report: ImportReport, { row, outcome, user }: ImportedRow): void {
  report.rows += 1;
  if (outcome === 'created') {
    report.created += 1;
    const { created_rows: planned } = report;
    if (user !== undefined && planned !== undefined && planned.length < mostPlanned)
      planned.push({ row: report.rows, ...plannedUser(user) });
  } else if (outcome === 'exists') report.skipped += 1;
  else {
    const { login_name: name } = row.fields;
    const loginName = typeof name === 'string' ? name : '';
    report.failed.push({ row: report.rows, login_name: loginName, problem: outcome.message });
  }
}

const sentenceOf = ({ row, login_name: name, tenant_id: tenant, ...user }: { row: number } & PlannedUser): string => {
  const rights = user.is_admin ? ', administrator' : user.role === null ? '' : `, ${user.role}`;
  return `row ${row} (${name}): new user of the tenant ${tenant}${rights}`;
};

const done = ({ created, skipped, failed }: ImportReport) => created + skipped + failed.length;

/** @param warnings given for a dry run that has some */
function printReport(report: ImportReport, json: boolean | undefined, warnings?: readonly string[]): void {
  if (json) return print(JSON.stringify({ ...report, warnings }));
  for (const warning of warnings ?? []) process.stderr.write(`warning: ${warning}\n`);
  for (const planned of report.created_rows ?? []) print(sentenceOf(planned));
  const more = report.created - (report.created_rows?.length ?? report.created);
  if (more > 0) print(`and ${more} more new users`);
  for (const { row, login_name, problem } of report.failed) print(`row ${row} (${login_name}): ${problem}`);
  print(`${report.rows} rows: ${report.created} created, ${report.skipped} exist, ${report.failed.length} failed`);
}
