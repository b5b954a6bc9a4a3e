import type { INestApplicationContext } from '@nestjs/common';
import type { AppConfig } from '../settings/app-config';
import { configOrExit } from '../settings/env';
import { migrate } from '../platform/database/migrator';
import { type AdoptionPlan, readAdoptionPlan } from './adoption/adoption-plan';
import { SourceTable } from './adoption/source-table';
import { type AdoptionReport, type RefusedRow, UserAdoption } from './adoption/user-adoption';
import { CliProblem, inContext, written } from './cli-context';
import { PasswordAges } from '../admin/password-ages';
import { interruptible } from './interruption';

export interface AdoptOptions {
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** `migrate --adopt FILE`: can be stopped between two batches and run again. */
export async function adopt(file: string, options: AdoptOptions): Promise<void> {
  const plan = await readAdoptionPlan(file);
  if (!options.dryRun) await migrate(configOrExit().database.url);
  const work = async (context: INestApplicationContext, { database }: AppConfig) => {
    const source = await SourceTable.open(database.url, plan);
    try {
      await fill(context, source, plan, options);
    } finally {
      source.close();
    }
  };
  // A dry run writes nothing, so it does not migrate either.
  await inContext(work, { migrate: !options.dryRun });
}

async function fill(
  context: INestApplicationContext,
  source: SourceTable,
  plan: AdoptionPlan,
  { dryRun, json }: AdoptOptions,
): Promise<void> {
  const report: AdoptionReport = { rows: 0, created: 0, skipped: 0, failed: 0 };
  const ages = { unknown: 0, expired: 0 };
  const output = new ReportStream(json);
  const refused = (row: RefusedRow) => output.refused(row);
  const size = json ? 0 : await source.size();
  // Progress is for people. A program that reads the JSON report expects only problems on standard error.
  const progress = (rows: number) => {
    if (!json && rows % 1000 === 0) process.stderr.write(`${rows} of ${size} rows\n`);
  };
  const interrupted = await interruptible(
    (signal) => context.get(UserAdoption).run(source, plan, report, { dryRun, ages, refused, progress, signal }),
    () => `after ${report.rows} rows; run it again for the rest, existing rows are skipped`,
  );
  await output.end(report, dryRun ? context.get(PasswordAges).warnings(ages) : undefined);
  if (interrupted) throw interrupted;
  if (report.failed > 0) {
    throw new CliProblem(
      `${report.failed} of ${report.rows} rows were refused: correct them and run it again, existing rows are skipped`,
    );
  }
}

/** Prints each refused row at once, so that a million of them take no memory. The JSON is one object all the same. */
class ReportStream {
  private begun = false;

  constructor(private readonly json: boolean) {}

  async refused(row: RefusedRow): Promise<void> {
    if (this.json) await written(`${this.begun ? ',' : '{"failed":['}${JSON.stringify(row)}`);
    else await written(`row ${row.row} (${oneLine(row.login_name)}, uid ${oneLine(row.uid)}): ${row.problem}\n`);
    this.begun = true;
  }

  /** @param warnings given for a dry run that has some */
  async end({ rows, created, skipped, failed }: AdoptionReport, warnings?: readonly string[]): Promise<void> {
    if (!this.json) for (const warning of warnings ?? []) process.stderr.write(`warning: ${warning}\n`);
    if (!this.json)
      return void (await written(`${rows} rows: ${created} created, ${skipped} exist, ${failed} failed\n`));
    const counts = JSON.stringify({ rows, created, skipped, warnings });
    await written(`${this.begun ? '' : '{"failed":['}],${counts.slice(1)}\n`);
  }
}

/** The other system may have stored line breaks and control characters. */
const oneLine = (text: string | null) => (text === null ? '-' : text.replace(/\p{Cc}/gu, '?'));
