// The arithmetic of docs/operations/sizing.md: from the figures of one run and stated assumptions to what an installation
// needs in its busiest minutes. No figure of this file is measured; all of them come from bench/results.
import { median } from './report.mjs';

/** What the operator may know better. Each name is an option of `npm run sizing`. */
export const assumptions = {
  /** Minutes of Monday morning in which the most users log in. */
  'peak-minutes': 15,
  /** Percent of all users who log in during these minutes. */
  'peak-share': 40,
  /** Passwords that are compared for each user who logs in: some are wrong, some users have two devices. */
  tries: 1.2,
  /** Percent of all users who are signed in, and whose pages renew their tokens. */
  online: 60,
  /** ACCESS_TOKEN_TTL_SECONDS in minutes: a page in use refreshes once in this time. */
  'access-minutes': 15,
  /** Token checks by this service a minute, for each user who is signed in. */
  checks: 2,
  /** BCRYPT_COST */
  cost: 12,
  /** Processors of one replica, which has as many hash threads. */
  processors: 2,
  /** Percent of the processors that may be busy in the peak. */
  usage: 70,
  /** DATABASE_POOL_SIZE */
  pool: 10,
};

/** The cost of the hashes in the bench. Each step of the cost doubles the work. */
const benchCost = 10;
/** Each further hash thread takes this many MiB (docs/operations/sizing.md, measured). */
const threadMiB = 8;
/** The threads of the bench, whose memory was measured. */
const benchThreads = 2;
/** Further replicas during a roll-out: `maxSurge` of deploy/kustomize. */
const surge = 1;
/** Connections of `purge`, `migrate`, `doctor`, the backup and the operator. */
const otherConnections = 20;

/** Medians over the rounds of a run. `meMany` checks tokens that the service does not remember. */
export function measured(run) {
  const of = (key, field) =>
    median(run.trials.filter((one) => one.key === key && one.name === 'service').map((one) => one[field]));
  const kind = (key) => ({ rate: of(key, 'rate'), cpuMs: of(key, 'cpu') });
  return {
    at: run.at,
    machine: run.machine,
    login: kind('login32'),
    refresh: kind('refresh32'),
    check: kind('meMany'),
    memoryMiB: run.memory.service.load,
  };
}

/** Requests a second in the peak. */
export function peak(users, a) {
  const online = (users * a.online) / 100;
  return {
    logins: (users * a['peak-share'] * a.tries) / 100 / (a['peak-minutes'] * 60),
    refreshes: online / (a['access-minutes'] * 60),
    checks: (online * a.checks) / 60,
  };
}

/** Processors, replicas and memory of the service. At least two replicas, so that one may fail. */
export function serviceFor(users, { login, refresh, check, memoryMiB }, a) {
  const rates = peak(users, a);
  const loginMs = login.cpuMs * 2 ** (a.cost - benchCost);
  const busy = (rates.logins * loginMs + rates.refreshes * refresh.cpuMs + rates.checks * check.cpuMs) / 1000;
  const processors = busy / (a.usage / 100);
  const replicas = Math.max(2, Math.ceil(processors / a.processors));
  const replicaMiB = memoryMiB + Math.max(0, Math.ceil(a.processors) - benchThreads) * threadMiB;
  return { ...rates, loginMs, processors, replicas, replicaMiB, memoryMiB: replicas * replicaMiB };
}

const kinds = [
  ['logins', 'login'],
  ['refreshes', 'refresh'],
  ['checks', 'check'],
];

/**
 * What the database does in the peak. `costs` is what one login, one refresh and one check cost it (bench/database.mjs), for
 * a single client: with many replicas, few requests meet in one of them and share a statement.
 */
export function databaseFor(users, service, costs, a) {
  const rates = peak(users, a);
  const sum = (field) => kinds.reduce((total, [rate, kind]) => total + rates[rate] * costs[kind][field], 0);
  const connections = service.replicas * a.pool;
  return {
    statements: sum('statements'),
    commits: sum('commits'),
    logBytes: sum('logBytes'),
    processors: sum('cpuMs') / 1000 / (a.usage / 100),
    connections,
    maxConnections: connections + surge * a.pool + otherConnections,
  };
}

/**
 * Processor seconds of the working day of 1,000 people (bench/day.mjs).
 * @returns {Record<string, { times: number, service: number, database: number }>} of each kind of request, and of `all`
 */
export function dayOfThousand({ kinds }, a) {
  const rows = Object.entries(kinds).map(([kind, { times, serviceMs, databaseMs }]) => {
    const service = serviceMs * times * (kind === 'login' ? 2 ** (a.cost - benchCost) : 1);
    return [kind, { times, service, database: databaseMs * times }];
  });
  const sum = (field) => rows.reduce((total, [, row]) => total + row[field], 0);
  return Object.fromEntries([
    ...rows,
    ['all', { times: sum('times'), service: sum('service'), database: sum('database') }],
  ]);
}
