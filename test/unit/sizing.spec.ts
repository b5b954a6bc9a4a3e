import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { assumptions, databaseFor, dayOfThousand, peak, serviceFor } from '../../bench/lib/sizing.mjs';
import { bufferPoolFor, bytesFor, purgedPerDay, rowsFor, usage } from '../../bench/lib/steady-state.mjs';
import { runScript } from '../support/run-script';

const results = resolve(__dirname, '../../bench/results');
const script = 'bench/sizing.mjs';

describe('the arithmetic of docs/operations/sizing.md', () => {
  // 9,000 users: half of them log in within ten minutes, all are signed in.
  const busy = {
    'peak-minutes': 10,
    'peak-share': 50,
    tries: 2,
    online: 100,
    'access-minutes': 15,
    checks: 1,
    cost: 12,
    processors: 4,
    usage: 50,
    pool: 10,
  };
  const measured = {
    login: { cpuMs: 40 },
    refresh: { cpuMs: 1 },
    check: { cpuMs: 0.1 },
    memoryMiB: 200,
  };

  it('the peak is the share of users, their tries and the time in which they come', () => {
    expect(peak(9000, busy)).toEqual({ logins: 15, refreshes: 10, checks: 150 });
  });

  it('two steps of the cost are four times the processor time, and replicas are whole', () => {
    // 15 × 160 + 10 × 1 + 150 × 0.1 = 2425 ms of a processor a second, and half of each processor may be busy.
    const service = serviceFor(9000, measured, busy);
    expect(service).toMatchObject({ loginMs: 160, processors: 4.85, replicas: 2, replicaMiB: 216, memoryMiB: 432 });
    expect(serviceFor(90_000, measured, busy)).toMatchObject({ processors: 48.5, replicas: 13 });
    expect(serviceFor(9000, measured, { ...busy, cost: 10 }).processors).toBeCloseTo(1.25);
  });

  it('a day is what each person does, with the login at the cost of the installation', () => {
    const kinds = {
      login: { times: 1, serviceMs: 20, databaseMs: 3 },
      check: { times: 300, serviceMs: 0.1, databaseMs: 0.01 },
    };
    const day = dayOfThousand({ kinds }, busy);
    expect(day).toMatchObject({ login: { times: 1, service: 80, database: 3 }, check: { times: 300, database: 3 } });
    expect(day.all).toEqual({ times: 301, service: 110, database: 6 });
  });

  it('no installation has fewer than two replicas', () => {
    expect(serviceFor(1, measured, busy).replicas).toBe(2);
  });

  it('the database does the sum of all requests, and a roll-out needs the connections of one more replica', () => {
    const cost = (statements: number, commits: number) => ({ statements, commits, logBytes: 100, cpuMs: 2 });
    const costs = { login: cost(7, 2), refresh: cost(2, 1), check: cost(0.5, 0) };
    const { processors, ...rest } = databaseFor(9000, { replicas: 5 }, costs, busy);
    expect(rest).toEqual({
      statements: 15 * 7 + 10 * 2 + 150 * 0.5,
      commits: 15 * 2 + 10,
      logBytes: 17_500,
      connections: 50,
      maxConnections: 50 + 10 + 20,
    });
    expect(processors).toBeCloseTo((175 * 2) / 1000 / 0.5);
  });
});

describe('the arithmetic of docs/operations/scale.md', () => {
  const use = {
    'logins-per-day': 1,
    'refreshes-per-day': 23,
    'mails-per-day': 0.5,
    'audits-per-day': 0.1,
    'changes-per-year': 4,
    browsers: 2,
    'log-days': 99,
    'session-days': 7,
    'purge-hours': 24,
    years: 3,
    tries: 1.5,
    'access-minutes': 60,
  };

  it('a table has the rows of the time that it keeps them and of one interval of purge', () => {
    const { 'login_tokens (sessions)': sessions, ...rest } = rowsFor(1200, use);
    expect(sessions).toBeCloseTo(1200 * (8 + 1 / 24));
    expect(rest).toEqual({
      users: 1200,
      user_change_pwd_logs: 1200 * 13,
      known_browsers: 2400,
      login_logs: 1200 * 1.5 * 100,
      audit_logs: 12_000,
      'login_tokens (access)': 1200 * 24 * (1 + 2 / 24),
      captcha_receipts: 1800,
      mail_outbox: 600 * 31,
    });
  });

  it('purge deletes a day what comes in a day', () => {
    // Two tokens, 1.5 log rows and 1.5 captcha receipts of each login; 23 access tokens, half a mail, 0.1 audit rows.
    expect(purgedPerDay(1000, use)).toBeCloseTo(1000 * (2 + 3 + 23 + 0.5 + 0.1));
  });

  it('the sizes count all indexes, and the buffer pool one day of the logs', () => {
    const tables = Object.fromEntries(
      Object.keys(rowsFor(1, use)).map((name) => [name, { indexes: { PRIMARY: 60, ix: 40 } }]),
    );
    const rows = rowsFor(1200, use);
    const bytes = bytesFor(1200, tables, use);
    expect(bytes).toEqual(Object.fromEntries(Object.entries(rows).map(([name, count]) => [name, count * 100])));
    const of = (name: string) => bytes[name] ?? NaN;
    const hot = of('users') + of('login_tokens (sessions)') + of('login_tokens (access)') + of('captcha_receipts');
    expect(bufferPoolFor(1200, tables, use)).toBeCloseTo(1.25 * (hot + (of('login_logs') + of('audit_logs')) / 99));
  });
});

describe('npm run sizing', () => {
  it('the tables of both pages are those of the recorded runs', async () => {
    expect(await runScript(script, '--check')).toEqual({ code: 0, output: '' });
  });

  it.each([
    ['sizing', assumptions],
    ['scale', usage],
  ])('docs/operations/%s.md names each assumption with its default', (name, defaults) => {
    const page = readFileSync(resolve(__dirname, `../../docs/operations/${name}.md`), 'utf8');
    const rows = [...page.matchAll(/^\| `--([\w-]+)` +\| +([\d.]+) \|/gm)];
    expect(Object.fromEntries(rows.map(([, option, value]) => [option, Number(value)]))).toEqual(defaults);
  });

  it('a run with other figures makes the page wrong, and the message says how to renew it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sizing-'));
    try {
      for (const name of ['latest', 'database', 'growth', 'applications', 'day', 'years']) {
        const text = readFileSync(join(results, `${name}.json`), 'utf8');
        writeFileSync(join(folder, `${name}.json`), text.replaceAll(/"cpu": (\d)/g, '"cpu": 9$1'));
      }
      const { code, output } = await runScript(script, '--check', '--results', folder);
      expect({ code, output }).toEqual({
        code: 1,
        output: 'docs/operations/sizing.md does not match bench/results: run `npm run sizing -- --write`\n',
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('computes the own numbers of an operator and repeats them', async () => {
    const { code, output } = await runScript(
      script,
      '--users',
      '250000',
      '--peak-minutes',
      '30',
      '--peak-share',
      '100',
    );
    expect(code).toBe(0);
    // 250,000 users, 1.2 tries each, in 1,800 s.
    expect(output).toMatch(/\| logins a second +\| +167 \|/);
    expect(output).toMatch(/--peak-minutes 30 --peak-share 100 --tries 1\.2/);
  });

  it.each([
    [['--users', 'many'], '--users must be a number from 0, not "many"\n'],
    [['--peak-minutes', '0'], '--peak-minutes must be more than 0\n'],
    [['--write', '--cost', '10'], '--cost changes no page: leave it out with --write and --check\n'],
  ])('%s is refused in one line', async (args, output) => {
    expect(await runScript(script, ...args)).toEqual({ code: 1, output });
  });

  it('an unknown option is refused', async () => {
    const { code, output } = await runScript(script, '--peek', '1');
    expect(code).toBe(1);
    expect(output).toContain("Unknown option '--peek'");
  });
});
