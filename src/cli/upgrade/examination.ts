import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { migrations } from '../../../migrations/all';
import { oldestRelease, releases } from '../../../migrations/releases';
import { rehearse } from '../../platform/database/rehearsal/rehearsal';
import { storeCode } from '../../platform/database/store-failure';
import { storeReason } from '../../platform/database/store-reason';
import { version } from '../../platform/version';
import { liveSessionCount } from '../../sessions/live-session-count';
import type { AppConfig } from '../../settings/app-config';
import { besideFormer } from './former-settings';
import { LiveDatabase } from './live-database';
import { findingOf, judgeMigrations, type PendingMigration, wholeSeconds } from './pending-migrations';
import type { UpgradeFinding } from './verdict';

export interface DatabaseReport {
  readonly findings: readonly UpgradeFinding[];
  /** The release that has made the schema; null for a new database. */
  readonly schema: string | null;
  readonly migrations: readonly PendingMigration[];
  readonly sessions: number | null;
}

const names = migrations.map((one) => new one().name);

/**
 * Asks the database of the service, and changes nothing in it.
 * @param config undefined when this version refuses the settings
 * @param scratch whether empty copies of the tables may be made in a schema of their own
 */
export async function examineDatabase(
  url: string,
  config: AppConfig | undefined,
  { scratch }: { scratch: boolean },
): Promise<DatabaseReport> {
  const nothing = { schema: null, migrations: [], sessions: null };
  let live: LiveDatabase | undefined;
  try {
    live = await LiveDatabase.open(url);
    const ran = (await live?.ran()) ?? new Set<string>();
    if (live === undefined || ran.size === 0) {
      return { ...nothing, findings: [{ check: 'schema', status: 'ok', text: 'the database is new: run migrate' }] };
    }
    return await examine(live, url, ran, config, scratch);
  } catch (error) {
    const reason = storeReason(error) || storeCode(error);
    return { ...nothing, findings: [{ check: 'database', status: 'unknown', text: `the database ${reason}` }] };
  } finally {
    await live?.close();
  }
}

async function examine(
  live: LiveDatabase,
  url: string,
  ran: ReadonlySet<string>,
  config: AppConfig | undefined,
  scratch: boolean,
): Promise<DatabaseReport> {
  const pending = names.filter((name) => !ran.has(name));
  const schema = releases.findLast(({ lastMigration }) => ran.has(lastMigration))?.version ?? 'unknown';
  const tried = pending.length > 0 && scratch ? await rehearse(url, live.source) : pending.length > 0 ? undefined : [];
  const sizes = await live.sizes([...new Set([...(tried ?? []).map(({ table }) => table), 'users'])]);
  const judged = judgeMigrations(pending, tried, sizes);
  const sessions = await countSessions(live);
  return {
    schema,
    migrations: judged,
    sessions,
    findings: [
      schemaFinding(ran, pending),
      ...(await connections(live)),
      ...(config === undefined ? [] : besideFormer(config, pending)),
      ...howJudged(live, pending, tried !== undefined),
      ...judged.map(findingOf),
      total(judged),
      { check: 'sessions', status: 'info', text: `${sessions.toLocaleString('en-US')} sessions have not ended` },
      await space(live, url, judged, sizes),
      { check: 'backup', status: 'info', text: 'no program can know whether there is one: take it before migrate' },
    ],
  };
}

function schemaFinding(ran: ReadonlySet<string>, pending: readonly string[]): UpgradeFinding {
  const newer = [...ran].filter((name) => !names.includes(name));
  const { version: oldest, lastMigration } = oldestRelease;
  if (!ran.has(lastMigration)) {
    return {
      check: 'schema',
      status: 'no',
      text: `the schema is older than that of ${oldest}: upgrade to ${oldest} first`,
    };
  }
  if (newer.length > 0) {
    const text = `${newer.length} migrations have run that ${version} does not know: this is a roll-back`;
    return { check: 'schema', status: 'warn', text };
  }
  const text = pending.length === 0 ? 'current' : `${pending.length} migrations are pending`;
  return { check: 'schema', status: 'ok', text };
}

async function connections(live: LiveDatabase): Promise<UpgradeFinding[]> {
  const hosts = await live.connectedHosts();
  if (hosts === undefined) return [];
  const text = [...hosts].map(([host, count]) => `${host} (${count})`).join(', ') || 'none';
  return [{ check: 'replicas', status: 'info', text: `connections to this database that the account sees: ${text}` }];
}

function howJudged(live: LiveDatabase, pending: readonly string[], tried: boolean): UpgradeFinding[] {
  if (pending.length === 0) return [];
  const where = live.mysql ? 'in a schema of their own, which is dropped again' : 'in memory';
  const text = tried
    ? `this server has tried them on empty copies of the tables, ${where}`
    : 'judged by the record of this version, because no schema was created (docs/operations/upgrade.md#check)';
  return [{ check: 'migrations', status: 'info', text }];
}

function total(judged: readonly PendingMigration[]): UpgradeFinding {
  const seconds = judged.reduce((sum, one) => sum + (one.seconds ?? 0), 0);
  const known = judged.every((one) => one.seconds !== null);
  const estimate = known ? `some ${wholeSeconds(seconds)} s` : 'a time that was not measured';
  const text =
    judged.length === 0 ? 'nothing to migrate' : `all together ${estimate}, estimated by figures of another machine`;
  return { check: 'migrations', status: 'info', text };
}

async function countSessions(live: LiveDatabase): Promise<number> {
  const now = live.mysql ? 'UTC_TIMESTAMP(3)' : "strftime('%Y-%m-%d %H:%M:%f', 'now')";
  const [row] = await live.rows<{ sessions: unknown }>(liveSessionCount + now);
  return Number(row?.sessions ?? 0);
}

/** A change that reads or copies a table may need as much space as the table for a time. */
async function space(
  live: LiveDatabase,
  url: string,
  judged: readonly PendingMigration[],
  sizes: Awaited<ReturnType<LiveDatabase['sizes']>>,
): Promise<UpgradeFinding> {
  const finding = (status: 'info' | 'warn', text: string): UpgradeFinding => ({ check: 'space', status, text });
  if (!live.mysql) {
    const file = url.slice('sqlite:'.length);
    const { bavail, bsize } = await statfs(dirname(file));
    return finding('info', `${megabytes(bavail * bsize)} MB are free beside the file`);
  }
  const heavy = judged.flatMap(({ changes }) => changes.filter(({ kind }) => kind === 'online' || kind === 'rebuild'));
  const needed = Math.max(0, ...heavy.map(({ table }) => sizes.get(table)?.bytes ?? 0));
  return finding(
    'info',
    `needs at most some ${megabytes(needed)} MB for a time; SQL does not tell what is free on the server`,
  );
}

const megabytes = (bytes: number): string => Math.ceil(bytes / 1e6).toLocaleString('en-US');
