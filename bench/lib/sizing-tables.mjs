// The tables of docs/operations/sizing.md and docs/operations/scale.md, and what `npm run sizing` prints.
import { bytes, figure, markdownTable } from './markdown.mjs';
import { databaseFor, dayOfThousand, measured, peak, serviceFor } from './sizing.mjs';
import { bufferPoolFor, bytesFor, bytesPerRow, purgedPerDay, rowsFor } from './steady-state.mjs';
import { yearsTable } from './years-table.mjs';

const million = 1_000_000;
const count = (value) => Number(value).toLocaleString('en-US');

/** The runs that the figures of a page come from. Only one page has figures of `years`. */
function runs({ run, database, growth, applications, day: workingDay, years }) {
  const day = ({ at }) => `${at.slice(0, 10)} ${at.slice(11, 16)}`;
  const on = ({ machine: { cores, node, loadAverage }, database: server }) =>
    [`${cores} processors with load ${figure(loadAverage)}`, `Node ${node.slice(1)}`, server]
      .filter(Boolean)
      .join(', ');
  return markdownTable(
    ['file in `bench/results`', 'run at (UTC)', 'on'],
    [
      ['`latest.json` (`npm run bench`)', day(run), on(run)],
      ['`database.json` (`node bench/database.mjs`)', day(database), on(database)],
      ['`growth.json` (`node bench/growth.mjs`)', day(growth), `${count(growth.rows)} rows, ${on(growth)}`],
      [
        '`applications.json` (`node bench/applications.mjs`)',
        day(applications),
        `${count(applications.users)} users, ${on(applications)}`,
      ],
      ['`day.json` (`node bench/day.mjs`)', day(workingDay), `${count(workingDay.users)} users, ${on(workingDay)}`],
      ...(years === undefined
        ? []
        : [
            [
              '`years.json` (`node bench/years.mjs`)',
              day(years),
              `${count(years.steps.at(-1).users)} users, ${on(years)}`,
            ],
          ]),
    ],
  );
}

/** The steps of bench/applications.mjs. */
const steps = { first: 'first sign-in', further: 'further one', renewal: 'renewal', end: 'end of session' };

/** The rows that a user leaves at an application, and how long `purge` keeps each (docs/operations/retention.md). */
function applicationRows({ kinds }, a) {
  const kept = ({ table, seconds }) => {
    if (table === 'application_sessions') return `${a['session-days']} days and 1 hour`;
    if (table !== 'oidc_records') return `${a['log-days']} days`;
    const days = seconds / 86_400;
    if (days >= 1) return `${figure(days)} days and 1 hour`;
    return `1 hour and ${figure(seconds / 60)} ${seconds === 60 ? 'minute' : 'minutes'}`;
  };
  const sum = (step) =>
    Object.values(kinds).reduce((total, { rows, indexes }) => total + rows[step] * bytesPerRow({ indexes }), 0);
  return markdownTable(
    ['row', ...Object.values(steps), 'bytes of one', 'kept for'],
    [
      ...Object.entries(kinds).map(([kind, one]) => [
        one.table === 'oidc_records' ? `\`oidc_records\`, ${kind}` : `\`${one.table}\``,
        ...Object.keys(steps).map((step) => figure(one.rows[step])),
        figure(bytesPerRow(one)),
        kept(one),
      ]),
      ['bytes of all', ...Object.keys(steps).map((step) => figure(sum(step))), '', ''],
    ],
  );
}

const ofTheDay = {
  login: 'login with a password',
  secondFactor: 'code of an authenticator',
  refresh: 'refreshes',
  check: 'checks',
  singleSignOn: 'sign-ins at applications',
  all: 'all',
};

function dayRows(day, a) {
  return markdownTable(
    ['of each person', 'a day', 'service, seconds', 'MariaDB, seconds'],
    Object.entries(dayOfThousand(day, a)).map(([kind, { times, service, database }]) => [
      ofTheDay[kind],
      count(times),
      figure(service),
      figure(database),
    ]),
  );
}

/** @param {{ run: object, database: object, growth: object, applications: object, day: object, years: object }} results the files of bench/results */
export function sizingTables(results, users, a) {
  const { run, database, growth, applications } = results;
  const rates = measured(run);
  const columns = users.map((n) => {
    const service = serviceFor(n, rates, a);
    return {
      n,
      service,
      db: databaseFor(n, service, database.costs.alone, a),
      pool: bufferPoolFor(n, growth.tables, a),
    };
  });
  const head = (first) => [first, ...users.map(count)];
  const row = (what, value) => [what, ...columns.map(value)];
  const gib = (mib) => `${figure(mib / 1024)} GiB`;
  return {
    runs: runs({ ...results, years: undefined }),
    rates: markdownTable(
      ['', 'of one processor', `measured, ${run.machine.cores} processors for everything`],
      ['login', 'refresh', 'check'].map((kind) => [
        `${kind === 'check' ? 'checks' : kind === 'login' ? 'logins' : 'refreshes'} a second`,
        figure(1000 / rates[kind].cpuMs),
        figure(rates[kind].rate),
      ]),
    ),
    costs: markdownTable(
      ['one', 'statements', 'commits', 'flushes', 'bytes of logs', 'ms of a processor'],
      Object.entries({ alone: 'one client', together: '32 clients' }).flatMap(([name, clients]) =>
        Object.entries(database.costs[name]).map(([kind, one]) => [
          `${kind}, ${clients}`,
          ...[one.statements, one.commits, one.flushes, one.logBytes, one.cpuMs].map(figure),
        ]),
      ),
    ),
    peak: markdownTable(head('users'), [
      row('logins a second', ({ service }) => figure(service.logins)),
      row('refreshes a second', ({ service }) => figure(service.refreshes)),
      row('checks a second', ({ service }) => figure(service.checks)),
      row(`processors at cost ${a.cost}`, ({ service }) => figure(service.processors)),
      row(`replicas with ${a.processors} processors`, ({ service }) => count(service.replicas)),
      row('memory of one replica', ({ service }) => `${figure(service.replicaMiB)} MiB`),
      row('memory of all replicas', ({ service }) => gib(service.memoryMiB)),
    ]),
    database: markdownTable(head('users'), [
      row('connections', ({ db }) => count(db.connections)),
      row('`max_connections`', ({ db }) => count(db.maxConnections)),
      row('statements a second', ({ db }) => figure(db.statements)),
      row('commits a second', ({ db }) => figure(db.commits)),
      row('logs written a second', ({ db }) => bytes(db.logBytes)),
      row('processors', ({ db }) => figure(db.processors)),
      row('`innodb_buffer_pool_size`', ({ pool }) => bytes(pool)),
    ]),
    applications: applicationRows(applications, a),
    day: dayRows(results.day, a),
  };
}

export function scaleTables(results, users, a) {
  const { run, database, growth } = results;
  const rates = measured(run);
  const { tables } = growth;
  const head = (first) => [first, ...users.map(count)];
  const sizes = users.map((n) => bytesFor(n, tables, a));
  const services = users.map((n) => serviceFor(n, rates, a));
  const bases = users.map((n, i) => databaseFor(n, services[i], database.costs.alone, a));
  const total = (all) => Object.values(all).reduce((sum, one) => sum + one, 0);
  const loginRows = {
    'login_tokens (sessions)': 1,
    'login_tokens (access)': 1,
    login_logs: 1,
    captcha_receipts: 1,
  };
  const measuredOnce = [
    ['rows that `purge` deleted a second', count(Math.round(growth.purge.rowsPerSecond))],
    [`seconds to divide ${count(growth.copy.rows)} rows of \`login_logs\` in place`, figure(growth.copy.seconds)],
  ];
  const perDay = users.map((n) => purgedPerDay(n, a));
  return {
    runs: runs(results),
    rows: markdownTable(
      ['table', 'index', 'a million rows'],
      Object.entries(tables).flatMap(([name, { indexes }]) => [
        [`\`${name}\``, 'all', bytes(bytesPerRow({ indexes }) * million)],
        ...Object.entries(indexes).map(([index, size]) => [
          '',
          index === 'PRIMARY' ? 'rows' : `\`${index}\``,
          bytes(size * million),
        ]),
      ]),
    ),
    logins: markdownTable(
      ['table', 'rows of a million logins', 'size'],
      [
        ...Object.entries(loginRows).map(([name, rows]) => [
          `\`${name}\``,
          count(rows * million),
          bytes(rows * million * bytesPerRow(tables[name])),
        ]),
        [
          'a million refreshes: `login_tokens`',
          count(million),
          bytes(million * bytesPerRow(tables['login_tokens (access)'])),
        ],
      ],
    ),
    steady: markdownTable(head('users'), [
      ...Object.keys(rowsFor(1, a)).map((name) => [`\`${name}\``, ...sizes.map((all) => bytes(all[name]))]),
      ['all', ...sizes.map((all) => bytes(total(all)))],
    ]),
    once: markdownTable(['measured', 'value'], measuredOnce),
    years: yearsTable(results.years),
    limits: markdownTable(head('users'), [
      ['logins a second', ...users.map((n) => figure(peak(n, a).logins))],
      [`processors of the service at cost ${a.cost}`, ...services.map((one) => figure(one.processors))],
      ['connections to the database', ...bases.map((one) => count(one.connections))],
      ['checks a second', ...users.map((n) => figure(peak(n, a).checks))],
      ['processors of the database', ...bases.map((one) => figure(one.processors))],
      ['of these, for checks', ...users.map((n) => figure(checksOf(n, database.costs.alone, a)))],
      ['commits a second', ...bases.map((one) => figure(one.commits))],
      ['binary and redo log a second', ...bases.map((one) => bytes(one.logBytes))],
      ['rows that `purge` deletes a day, in millions', ...perDay.map((rows) => figure(rows / million))],
      ['hours of `purge` a day', ...perDay.map((rows) => figure(rows / growth.purge.rowsPerSecond / 3600))],
    ]),
  };
}

function checksOf(users, costs, a) {
  return (peak(users, a).checks * costs.check.cpuMs) / 1000 / (a.usage / 100);
}
