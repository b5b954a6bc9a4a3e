import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type { AppConfig } from '../settings/app-config';
import { ownEnvironment } from '../settings/env';
import { CliProblem, inContext, oneOf, print, problemOf } from './cli-context';
import { emptyInput, standardInput, textOfInput } from './input';
import { Installation, StepFailed, WrongFile } from './installation/installation';
import { SecretReferences } from './installation/secret-references';
import type { Step } from './installation/section';
import { sectionsOf } from './installation/sections/all-sections';

interface ApplyOptions {
  readonly dryRun?: boolean;
  readonly detailedExitCode?: boolean;
  readonly json?: boolean;
}

const formats = ['yaml', 'json'] as const;
/** With `--detailed-exit-code`: something was or would be changed. */
const withChanges = 2;

const head = `# Written by config export. Every "(not exported)" stands for a secret: config apply leaves it as it is.
# Where the secret does not exist yet, write a reference: \${ENV:NAME} or file:PATH.
`;

/** `config apply` and `config export`: the installation as a file (docs/operations/configuration-as-code.md). */
export function addInstallationCommands(config: Command): void {
  config
    .command('apply <file>')
    .description('make tenants, units, groups, settings, identity providers and applications as the file says')
    .option('--dry-run', 'check everything, print what would change, and write nothing')
    .option('--detailed-exit-code', `end with ${withChanges} when something was changed, or would be`)
    .option('--json')
    .action(async (file: string, options: ApplyOptions) => {
      const text = await textOfInput(file);
      if (text.trim() === '') throw new CliProblem(file === standardInput ? emptyInput : `${file} is empty`);
      await inContext((context, settings) => apply(installationOf(context, settings, file), file, text, options));
    });

  config
    .command('export')
    .description('print the installation in the form that config apply reads, without secrets')
    .option('--format <format>', formats.join(', '), 'yaml')
    .action(({ format }: { format: string }) => {
      const chosen = oneOf('--format', format, formats);
      return inContext(async (context, settings) => {
        const members = await installationOf(context, settings).exported();
        if (chosen === 'json') print(JSON.stringify(members, null, 2));
        else process.stdout.write(head + stringify(members, { lineWidth: 0, aliasDuplicateObjects: false }));
      });
    });
}

function installationOf(context: INestApplicationContext, settings: AppConfig, file?: string): Installation {
  const { names } = settings.effective;
  const own = { isSetting: (name: string) => names.has(name), dataDir: settings.dataDir };
  const secrets = new SecretReferences(ownEnvironment(), file === standardInput ? undefined : file, own);
  return new Installation(sectionsOf(context), secrets);
}

async function apply(installation: Installation, file: string, text: string, options: ApplyOptions): Promise<void> {
  const { dryRun = false, json } = options;
  const told = (step: Step): void => (json ? undefined : print(linesOf(step)));
  try {
    const steps = dryRun ? await installation.plan(text) : await installation.apply(text, told);
    if (json) print(JSON.stringify({ dry_run: dryRun, changes: steps.map(viewOf) }));
    else {
      if (dryRun) steps.forEach(told);
      print(summaryOf(steps.length, dryRun));
    }
    if (options.detailedExitCode && steps.length > 0) process.exitCode = withChanges;
  } catch (error) {
    if (error instanceof WrongFile) {
      if (json) print(JSON.stringify({ faults: error.faults }));
      for (const { path, line, column, problem } of json ? [] : error.faults) {
        process.stderr.write(`${file}:${line}:${column}: ${path === '' ? '' : `${path} `}${problem}\n`);
      }
    }
    if (error instanceof StepFailed) {
      const { step, done } = error;
      if (json) print(JSON.stringify({ dry_run: false, changes: done.map(viewOf) }));
      throw new CliProblem(
        `${step.section} ${step.id}: ${problemOf(error.cause)}. ${done.length} changes before it stay; apply the file again for the rest`,
      );
    }
    throw error;
  }
}

const viewOf = ({ section, id, action, fields, note }: Step) => ({
  ...{ section, id, action, fields },
  ...(note !== undefined && { note }),
});

const linesOf = ({ section, id, action, fields, note }: Step): string =>
  [
    `${action} ${section} ${id}`,
    ...Object.entries(fields).map(([name, { from, to }]) =>
      action === 'create'
        ? `  ${name}: ${JSON.stringify(to)}`
        : `  ${name}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`,
    ),
    ...(note === undefined ? [] : [`  note: ${note}`]),
  ].join('\n');

function summaryOf(count: number, dryRun: boolean): string {
  if (count === 0) return 'no changes';
  const changes = count === 1 ? '1 change' : `${count} changes`;
  return dryRun ? `${changes}; nothing was written, because of --dry-run` : changes;
}
