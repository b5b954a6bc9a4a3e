import type { Command } from 'commander';
import { formerRelease, releases } from '../../migrations/releases';
import { readDatabaseSettings } from '../platform/config/database-settings';
import { SettingsProblem, SettingsReader } from '../platform/config/settings-reader';
import { version } from '../platform/version';
import { type AppConfig, loadConfig } from '../settings/app-config';
import { ownEnvironment } from '../settings/env';
import { CliProblem, oneOf, print } from './cli-context';
import { examineDatabase } from './upgrade/examination';
import { comparedWith } from './upgrade/former-settings';
import { askReplicas, judgeReplica } from './upgrade/replicas';
import {
  accepting,
  exitCodes,
  type UpgradeCheck,
  upgradeChecks,
  type UpgradeFinding,
  verdictOf,
} from './upgrade/verdict';
import { urlOf } from '../shared/url-text';

interface Options {
  check?: boolean;
  replica?: string[];
  formerSettings?: string;
  accept?: string[];
  scratch: boolean;
  json?: boolean;
}

const collect = (value: string, former: string[] = []): string[] => [...former, value];

/**
 * `upgrade --check`: whether this version may replace the one that runs. It changes nothing. Exit code 0 for go, 1 for no, 2
 * when something could not be asked.
 */
export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade')
    .description('says whether this version may replace the one that runs, and changes nothing')
    .option('--check', 'ask the database, the settings and the replicas')
    .option('--replica <url>', 'address of METRICS_PORT of the running replicas, repeatable', collect)
    .option('--former-settings <file>', 'settings of the running version, to compare keys and names in tokens')
    .option('--accept <check>', 'bear what this check says against it, repeatable', collect)
    .option('--no-scratch', 'create no schema for empty copies of the tables')
    .option('--json')
    // A misspelt option must not look like a reason to wait.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.unknown))
    .action(async ({ check, json, ...options }: Options) => {
      if (!check) throw new CliProblem('upgrade needs --check; `migrate` brings the database to this version', 2);
      const report = await examineAll(options);
      if (json) print(JSON.stringify(report));
      else
        for (const { check: part, status, text } of report.findings)
          print(`${part.padEnd(12)}${status.padEnd(9)}${text}`);
      if (report.verdict === 'go') {
        if (!json) print('go');
        return;
      }
      const parts = report.findings.filter(({ status }) => status === (report.verdict === 'no' ? 'no' : 'unknown'));
      const reasons = [...new Set(parts.map(({ check: part }) => part))].join(', ');
      const told = report.verdict === 'no' ? `no: ${reasons}` : `could not be asked: ${reasons}`;
      throw new CliProblem(told, exitCodes[report.verdict]);
    });
}

const released = releases.map((one) => one.version);

async function examineAll({ replica = [], formerSettings, accept = [], scratch }: Omit<Options, 'check' | 'json'>) {
  const accepted = accept.map((check) => oneOf<UpgradeCheck>('--accept', check, upgradeChecks, exitCodes.unknown));
  const { config, url, findings } = ownSettings();
  const database = await examineDatabase(url, config, { scratch });
  const replicas = await askReplicas(replica.map(wellFormed));
  const found: UpgradeFinding[] = [
    ...findings,
    ...(formerSettings === undefined || config === undefined ? [] : comparedWith(formerSettings, config)),
    ...replicas.map((one) => judgeReplica(one, version, released)),
    ...database.findings,
  ].map(accepting(accepted));
  return {
    verdict: verdictOf(found),
    version,
    former_version: formerRelease.version,
    schema: database.schema,
    replicas,
    sessions: database.sessions,
    migrations: database.migrations,
    findings: found,
  };
}

/** A refused setting is a finding, and the database is asked all the same. @throws CliProblem without an address of the database */
function ownSettings(): { config?: AppConfig; url: string; findings: UpgradeFinding[] } {
  try {
    const config = loadConfig(ownEnvironment());
    return { config, url: config.database.url, findings: [{ check: 'settings', status: 'ok', text: 'accepted' }] };
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    const reader = new SettingsReader(ownEnvironment());
    const { url } = readDatabaseSettings(reader, ownEnvironment().NODE_ENV === 'production');
    try {
      reader.assertNoProblems();
    } catch {
      throw new CliProblem(`configuration: ${error.message}`, 2);
    }
    return { url, findings: error.problems.map((text) => ({ check: 'settings', status: 'no', text })) };
  }
}

function wellFormed(url: string): string {
  if (/^https?:$/.test(urlOf(url)?.protocol ?? '')) return url;
  throw new CliProblem('--replica must be a URL that starts with http:// or https://', 2);
}
