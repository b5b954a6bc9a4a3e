// Turns trials into ratios: the service divided by another server of the same round, then the median over the rounds.
export function median(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const of = (trials, key, name) => trials.filter((trial) => trial.key === key && trial.name === name);

export function ratio(trials, key, field, other, mine = 'service') {
  const theirs = of(trials, key, other);
  return median(
    of(trials, key, mine).map((trial) => trial[field] / theirs.find(({ round }) => round === trial.round)?.[field]),
  );
}

/** Answers a second, divided by the session checks of the same server in the same round. */
function ofChecks(trials, key) {
  const checks = of(trials, 'me32', 'service');
  return median(
    of(trials, key, 'service').map(({ round, rate }) => rate / checks.find((one) => one.round === round)?.rate),
  );
}

/** Memory in the last third of the rounds, divided by that in the second. In the first third every process grows. */
function growth(rounds) {
  const third = Math.floor(rounds.length / 3);
  return third >= 3 ? median(rounds.slice(-third)) / median(rounds.slice(-2 * third, -third)) : undefined;
}

/** The targets of the service, each as `[what, value, 'at least' | 'under', bound, unit]`. */
export function evaluate({ trials, memory, overload, start }) {
  const at = (key, field, other) => ratio(trials, key, field, other);
  const each = (value) => overload && median(overload.rounds.map(value));
  const ofFloods = (key, value) =>
    overload?.floods && median(overload.floods.filter((one) => one.key === key).map(value));
  const list = [
    ['logins/s at 32, of the reference', at('login32', 'rate', 'reference'), 'at least', 0.95],
    ['logins/s at 128, of the reference', at('login128', 'rate', 'reference'), 'at least', 0.95],
    ['logins/s at 32, of better-auth', at('login32', 'rate', 'better-auth'), 'at least', 1.15],
    ['logins/s at 128, of better-auth', at('login128', 'rate', 'better-auth'), 'at least', 1.15],
    ['refresh/s at 32, of the reference', at('refresh32', 'rate', 'reference'), 'at least', 1.3],
    ['refresh at 32: p99, of the reference', at('refresh32', 'p99', 'reference'), 'under', 1.1],
    ["refresh/s at 32, of better-auth's get-session", at('refresh32', 'rate', 'better-auth'), 'at least', 3],
    ['GET /user/me per s at 32, of the reference', at('me32', 'rate', 'reference'), 'at least', 0.8],
    ['GET /user/me at 32: p99, of the reference', at('me32', 'p99', 'reference'), 'under', 1.5],
    ['GET /user/me with 8192 tokens, of the reference', at('meMany', 'rate', 'reference')],
    ['GET /user/me with bound tokens per s at 32, of unbound ones', ofChecks(trials, 'bound32'), 'at least', 0.6],
    ['POST /introspect per s at 32, of GET /user/me', ofChecks(trials, 'introspect32')],
    ['GET /verify per s at 32, of GET /user/me', ofChecks(trials, 'verify32')],
    ['checks by the guard with keys per s, of GET /user/me', ratio(trials, 'jwks', 'rate', 'service', 'guard')],
    ['refresh beside logins: rate, of the reference', at('storm', 'rate', 'reference'), 'at least', 0.8],
    ['refresh beside logins: p50, of the reference', at('storm', 'p50', 'reference'), 'under', 0.81],
    ['refresh beside logins: p99, of the reference', at('storm', 'p99', 'reference'), 'under', 0.77],
    ['refresh beside logins: logins/s, of the reference', at('storm', 'beside', 'reference')],
    ['logins/s beside busy programs, of the reference', at('neighbours', 'rate', 'reference'), 'at least', 0.9],
    [
      'overload, open loop: p95 of accepted, of normal',
      overload && overload.storm.p95 / overload.normal.p95,
      'under',
      2,
    ],
    ['overload, open loop: accepted/s, of normal load', overload && overload.storm.rate / overload.normal.rate],
    ['overload, open loop: p99 of refusals', overload?.storm.byStatus[503]?.p99, 'under', 50, 'ms'],
    [
      '5 s after the overload: logins/s, of normal load',
      overload && overload.after.rate / overload.normal.rate,
      'at least',
      0.95,
    ],
    [
      'overload, 300 clients: accepted/s, of normal',
      each(({ crowd, normal }) => crowd.rate / normal.rate),
      'at least',
      0.95,
    ],
    ['overload, 300 clients: p50 of refusals', each(({ refused }) => refused?.p50), 'under', 50, 'ms'],
    ['overload, 300 clients: p99 of refusals', each(({ refused }) => refused?.p99), 'under', 50, 'ms'],
    ['overload, 300 clients: p99 of /user/me', each(({ me }) => me.p99), 'under', 100, 'ms'],
    [
      'overload, 2000 clients: accepted/s, of normal',
      ofFloods('logins', ({ flood }) => flood.rate / overload.normal.rate),
      'at least',
      0.95,
    ],
    ...['logins', 'refresh', 'verify'].map((key) => [
      `overload, 2000 connections with ${key}: p99 of /user/me`,
      ofFloods(key, ({ me }) => me.p99),
      'under',
      100,
      'ms',
    ]),
    ['overload, 300 clients: resident memory', each(({ memory }) => memory), 'under', 240, 'MiB'],
    ...['login32', 'refresh32', 'me32'].map((key) => [
      `${key} on large tables, of small tables`,
      at(key, 'rate', 'small'),
      'at least',
      0.8,
    ]),
    ['resident memory, idle', memory.service?.idle, 'under', 110, 'MiB'],
    ['resident memory, under load', memory.service?.load, 'under', 180, 'MiB'],
    ['resident memory, last third of rounds, of the second', growth(memory.service?.rounds ?? []), 'under', 1.1],
    [
      'start to ready, of an empty Nest program on Fastify',
      start && median(start.service) / median(start['empty Nest']),
      'under',
      1,
    ],
  ];
  return list
    .filter(([, value]) => Number.isFinite(value))
    .map(([what, value, kind, bound, unit = '']) => ({
      what,
      value,
      kind,
      bound,
      unit,
      met: kind === undefined ? undefined : kind === 'under' ? value < bound : value >= bound,
    }));
}

export function table({ trials, memory, footprint = [] }, figures) {
  const lines = [];
  const names = [...new Set(trials.map(({ name }) => name))];
  for (const key of new Set(trials.map((trial) => trial.key))) {
    for (const name of names) {
      const mine = of(trials, key, name);
      if (mine.length === 0) continue;
      const show = (field, digits) => median(mine.map((trial) => trial[field])).toFixed(digits);
      const against = name === 'service' ? '' : `  service is ${ratio(trials, key, 'rate', name).toFixed(2)} of it`;
      lines.push(
        `${key.padEnd(10)} ${name.padEnd(12)} ${show('rate', 1).padStart(8)}/s  p50 ${show('p50', 1).padStart(7)}  p99 ${show('p99', 1).padStart(7)} ms  cpu ${show('cpu', 3)} ms${against}`,
      );
    }
  }
  for (const [name, { idle, load }] of Object.entries(memory)) {
    lines.push(
      `${'memory'.padEnd(10)} ${name.padEnd(12)} ${idle?.toFixed(0)} MiB idle, ${load.toFixed(0)} MiB at most`,
    );
  }
  lines.push(...footprintLines(footprint));
  lines.push('');
  for (const { what, value, kind, bound, unit, met } of figures) {
    const verdict = met === undefined ? '' : `  ${kind} ${bound}${unit && ` ${unit}`}: ${met ? 'met' : 'NOT MET'}`;
    lines.push(`${what.padEnd(50)} ${value.toFixed(value < 10 ? 2 : 0).padStart(6)}${verdict}`);
  }
  return lines.join('\n');
}

/** The median of each build, and the median over the rounds of the ratio of the service to it. */
function footprintLines(rows) {
  const of = (name) => rows.filter((row) => row.name === name);
  const measures = [
    ['startMs', 'ms', 'from the start to the first ready answer'],
    ['startCpuMs', 'ms', 'of a processor until then'],
    ['idle', 'MiB', 'resident memory after the start'],
    ['highest', 'MiB', 'resident memory under load'],
  ];
  return [...new Set(rows.map(({ name }) => name))].toSorted().flatMap((name) =>
    measures.map(([field, unit, what]) => {
      const own = median(of(name).map((row) => row[field])).toFixed(1);
      const ratios = of(name).map((row) => of('service').find(({ round }) => round === row.round)[field] / row[field]);
      const against = name === 'service' ? '' : `  service is ${median(ratios).toFixed(3)} of it`;
      return `${'footprint'.padEnd(10)} ${name.padEnd(12)} ${own.padStart(8)} ${unit.padEnd(3)} ${what}${against}`;
    }),
  );
}
