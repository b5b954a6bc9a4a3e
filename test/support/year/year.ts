import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bcrypt from '@node-rs/bcrypt';
import { WebhookReceiver } from '../events/webhook-receiver';
import { Fleet } from '../fleet';
import { FormerVersion, releasedCommit } from '../former-version';
import { Regions } from '../regions';
import { ROOT } from '../replicas';
import { type KubectlAnswer, RunbookPlaces } from '../runbook-places';
import { runbooks } from '../runbooks';
import { eventually } from '../servers/eventually';
import { type ServiceProcess } from '../servers/service-process';
import { type AnsweredSession, judged, type Send, sendTo, SessionLoad } from '../session-load';
import { dataKey, password, realTimeLimits, testSettings } from '../settings';

export interface YearOptions {
  /** People who are adopted. */
  readonly people: number;
  /** Sessions that are opened in each step of a chapter, at least. */
  readonly sessions: number;
  /** Requests at once. */
  readonly workers: number;
  /** Milliseconds of the way between the regions, in each direction. */
  readonly latency: number;
}

export interface Chapter {
  readonly chapter: string;
  readonly requests: number;
  readonly failed: number;
  /** The failed requests by their answer. */
  readonly failures: Record<string, number>;
  /** What the chapter has counted beside requests. */
  readonly notes: Notes;
  /** Why the chapter did not reach its end. */
  readonly problem?: string;
}

type Notes = Record<string, number | string>;

/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9';

const newSecret = () => randomBytes(32).toString('base64');

const firstSettings = (): Record<string, string> => ({
  ...testSettings,
  ...realTimeLimits,
  LOG_LEVEL: 'warn',
  JWT_SECRET: newSecret(),
  DATA_ENCRYPTION_KEY: dataKey('year-1'),
});

/** One year of an installation, under load (docs/operations/a-year.md). Its commands are those of the pages of the operations. */
export class Year {
  private readonly chapters: Chapter[] = [];
  private fleet!: Fleet;
  private load!: SessionLoad;
  private receiver!: WebhookReceiver;
  private places!: RunbookPlaces;
  private former!: FormerVersion;
  /** Where the name of the service leads. */
  private send!: Send;
  private oldToken = '';
  /** Sessions that were answered at the end of the chapter before. */
  private earlier: readonly AnsweredSession[] = [];
  /** What became of them. Undefined: the chapter has not asked yet. */
  private ended: string | undefined;
  private nextSettings: Record<string, string> = {};
  private root = '';

  private constructor(
    private readonly options: YearOptions,
    /** The settings of the service now. The second region has the same. */
    private readonly settings: Record<string, string>,
    private readonly regions: Regions,
    private readonly directory: string,
    private readonly say: (line: string) => void,
  ) {}

  /** @param say is told of each chapter */
  static async pass(options: YearOptions, say: (line: string) => void): Promise<Chapter[]> {
    const directory = await mkdtemp(join(tmpdir(), 'year-'));
    const settings = firstSettings();
    const regions = await Regions.start(settings);
    const year = new Year(options, settings, regions, directory, say);
    try {
      await year.begin();
      await year.run();
      return year.chapters;
    } finally {
      await year.end();
    }
  }

  private async begin(): Promise<void> {
    const commit = releasedCommit('1.0.0');
    if (commit === undefined) throw new Error('the year begins with version 1.0.0: it needs the history of git');
    const { primary } = this.regions;
    process.env.TEST_MARIADB_URL = primary.mariadb.url;
    process.env.TEST_MARIADB_LOG = primary.mariadb.logFile;
    await primary.sql('SET GLOBAL read_only = OFF', 'CREATE DATABASE portal CHARACTER SET utf8mb4');
    this.receiver = await WebhookReceiver.start();
    this.former = await FormerVersion.build(commit);
    this.root = this.former.root;
  }

  private async end(): Promise<void> {
    await this.load?.stop();
    await this.places?.stop();
    await this.fleet?.stop().catch(() => undefined);
    await this.receiver?.stop();
    await this.former?.remove();
    await this.regions.stop();
    await rm(this.directory, { recursive: true });
  }

  private async run(): Promise<void> {
    await this.install();
    await this.adopt();
    await this.upgrade();
    await this.rotateKeys();
    await this.loseReceivers();
    await this.restore();
    await this.leak();
    await this.secondRegion();
    await this.loseRegion();
    await this.wayBack();
    await this.loseRegionUnprotected();
  }

  /** Runs one chapter, and notes its requests. A chapter that fails does not end the year. */
  private async chapter(chapter: string, work: () => Promise<Notes | void>): Promise<void> {
    // The chapter before has ended with so many logins.
    this.earlier = this.load?.sessions.slice(-this.options.sessions) ?? [];
    this.ended = undefined;
    this.load?.forget();
    const before = { ...this.load?.counts };
    const failuresBefore = { ...this.load?.failures };
    let notes: Notes = {};
    let problem: string | undefined;
    try {
      notes = (await work()) ?? {};
      this.ended ??= await this.judgeEarlier();
      if (this.earlier.length > 0) notes = { ...notes, 'earlier sessions that ended': this.ended };
    } catch (error) {
      problem = String(error);
    }
    const { counts, failures } = this.load;
    const since = Object.entries(failures).map(([reason, n]) => [reason, n - (failuresBefore[reason] ?? 0)] as const);
    const done = {
      chapter,
      requests: counts.requests - (before.requests ?? 0),
      failed: counts.failed - (before.failed ?? 0),
      failures: Object.fromEntries(since.filter(([, n]) => n > 0)),
      notes,
      problem,
    };
    this.chapters.push(done);
    this.say(JSON.stringify(done));
  }

  /** How many sessions that were open before the chapter can no longer be refreshed. */
  private async judgeEarlier(): Promise<string> {
    const open = this.earlier.filter(({ state }) => state === 'open');
    const { lostRefresh } = await judged(this.send, open);
    return `${lostRefresh} of ${open.length}`;
  }

  private async install(): Promise<void> {
    await this.chapter('1.0.0 is installed', async () => {
      const { primary } = this.regions;
      const databaseUrl = Object.assign(new URL(primary.mariadb.url), { pathname: '/portal' }).toString();
      this.fleet = await Fleet.start(this.settings, 2, databaseUrl, this.former.root);
      this.change({ MIGRATE_ON_START: 'false', TRUSTED_PROXIES: '127.0.0.1' });
      this.send = (path, request) => this.fleet.send(path, request);
      await this.fleet.givenUser('operator', { email: 'operator@example.com' });
      this.places = await RunbookPlaces.start({
        databaseUrl,
        settings: () => ({ ...this.settings, DATABASE_URL: databaseUrl }),
        variables: () => ({ AUTH_URL: this.fleet.services[0]?.url ?? nowhere, OLD_TOKEN: this.oldToken }),
        kubectl: (args) => this.kubectl(args),
      });
      this.loadOf(() => 'operator');
      await this.load.more(this.options.sessions);
    });
  }

  private loadOf(nameOf: (n: number) => string): void {
    this.load = new SessionLoad((path, request) => this.send(path, request), this.options.workers, nameOf);
  }

  private async adopt(): Promise<void> {
    await this.chapter('people of another system are adopted', async () => {
      const { people, sessions } = this.options;
      await this.regions.primary.sql(
        'CREATE DATABASE legacy CHARACTER SET utf8mb4',
        'CREATE TABLE legacy.users (id VARCHAR(36) PRIMARY KEY, username VARCHAR(64), mail VARCHAR(128), pw VARCHAR(64))',
        `INSERT INTO legacy.users SELECT CONCAT('p', seq), CONCAT('person', seq), CONCAT('person', seq, '@example.com'),
           '${await bcrypt.hash(password, { cost: 4 })}' FROM portal.seq_0_to_${people - 1}`,
      );
      const plan = join(this.directory, 'plan.json');
      const columns = { uid: 'id', login_name: 'username', email: 'mail', password_hash: 'pw' };
      await writeFile(plan, JSON.stringify({ source: 'legacy.users', columns, hash: { algorithm: 'bcrypt' } }));
      const { created, failed } = await this.cli('migrate', '--adopt', plan);
      // From now on everybody logs in. 7919 is a prime number, so the names of a chapter are spread over all of them.
      const { counts, failures } = this.load;
      await this.load.stop();
      this.loadOf((n) => `person${(n * 7919) % people}`);
      Object.assign(this.load.counts, counts);
      Object.assign(this.load.failures, failures);
      await this.load.more(sessions);
      return { adopted: created as number, refused: (failed as unknown[]).length };
    });
  }

  private async upgrade(): Promise<void> {
    await this.chapter('upgraded under load', async () => {
      this.change({ TOKEN_BINDING: 'off' });
      const check = await this.fleet.run(['upgrade', '--check'], { root: ROOT });
      this.root = ROOT;
      const { ran } = await this.cli('migrate');
      await this.load.more(this.options.sessions);
      await this.rollOut();
      await this.load.more(this.options.sessions);
      return { 'upgrade --check': check.answer.verdict as string, migrations: (ran as string[]).length };
    });
  }

  /** docs/operations/keys.md: signing key and data key at once, in three roll-outs. */
  private async rotateKeys(): Promise<void> {
    await this.chapter('signing key and data key are rotated', async () => {
      const former = { jwt: this.settings.JWT_SECRET!, data: this.settings.DATA_ENCRYPTION_KEY! };
      const fresh = { jwt: newSecret(), data: dataKey('year-2') };
      await this.rollOut({ JWT_PREVIOUS_KEYS: fresh.jwt, DATA_ENCRYPTION_KEY: `${former.data},${fresh.data}` });
      await this.load.more(this.options.sessions);
      await this.rollOut({
        JWT_SECRET: fresh.jwt,
        JWT_PREVIOUS_KEYS: former.jwt,
        DATA_ENCRYPTION_KEY: `${fresh.data},${former.data}`,
      });
      const { left, unreadable } = await this.cli('keys', 'reseal');
      // Instead of seven days: the sessions that are in use were all opened after the second roll-out.
      await this.load.more(this.options.sessions);
      this.ended = await this.judgeEarlier();
      await this.rollOut({ JWT_PREVIOUS_KEYS: '', DATA_ENCRYPTION_KEY: fresh.data });
      await this.load.more(this.options.sessions);
      return { 'roll-outs': 3, 'values left': left as number, unreadable: unreadable as number };
    });
  }

  /** Three days pass as three changes of the rows: events become a day older, and every back-off ends. */
  private async loseReceivers(): Promise<void> {
    await this.chapter('the receiver of events is dead for three days', async () => {
      await this.rollOut(this.receiver.settings);
      await this.load.more(10);
      await this.receiver.stop();
      // An event that still waits holds up the later ones of its user, so it is counted and becomes older as well.
      const [{ first }] = (await this.fleet.rows(
        `SELECT COALESCE((SELECT MIN(id) - 1 FROM event_outbox WHERE status = 0), MAX(id), 0) AS first FROM event_outbox`,
      )) as any;
      for (let day = 0; day < 3; day++) {
        await this.load.more(day === 0 ? 10 : this.options.sessions);
        await this.fleet.rows('UPDATE event_outbox SET created_at = created_at - INTERVAL 1 DAY WHERE status = 0');
      }
      const [{ last }] = (await this.fleet.rows('SELECT MAX(id) AS last FROM event_outbox')) as any;
      const old = 'FROM event_outbox WHERE status = 0 AND created_at < UTC_TIMESTAMP() - INTERVAL 72 HOUR';
      // Retries are sent in the order of this time, and few a second.
      const due = `UPDATE event_streams SET next_attempt_at = UTC_TIMESTAMP() - INTERVAL 1 DAY
        WHERE stream IN (SELECT stream ${old})`;
      const tried = async () => {
        await this.fleet.rows(due);
        return Number((await this.fleet.rows(`SELECT COUNT(*) AS n ${old}`))[0]!.n) === 0;
      };
      await eventually(tried, { what: 'events of 72 hours are given up', timeout: 540_000, interval: 3000 });
      await this.receiver.listen();
      await this.fleet.rows('UPDATE event_streams SET next_attempt_at = UTC_TIMESTAMP()');
      const waiting = async () => {
        const sql = 'SELECT COUNT(*) AS n FROM event_outbox WHERE id BETWEEN ? AND ? AND status = 0';
        return Number((await this.fleet.rows(sql, [first + 1, last]))[0]!.n);
      };
      await eventually(async () => (await waiting()) === 0, {
        what: 'no event waits',
        timeout: 540_000,
        interval: 500,
      });
      const dead = await this.replayDead();
      const rows = await this.fleet.rows('SELECT event_id FROM event_outbox WHERE id BETWEEN ? AND ?', [
        first + 1,
        last,
      ]);
      const missing = () => {
        const arrived = new Set(this.receiver.accepted.flatMap(({ id, body }) => [id, JSON.parse(body).replay_of]));
        return rows.filter(({ event_id }) => !arrived.has(event_id)).length;
      };
      await eventually(() => missing() === 0, { what: 'every event arrives', timeout: 300_000, interval: 500 }).catch(
        () => undefined,
      );
      return { events: rows.length, 'given up after 72 h, then replayed': dead, missing: missing() };
    });
  }

  private async replayDead(): Promise<number> {
    const [found] = await this.fleet.rows(
      `SELECT COUNT(*) AS n, DATE_FORMAT(MIN(created_at), '%Y-%m-%dT%TZ') AS oldest,
         DATE_FORMAT(MAX(created_at) + INTERVAL 1 SECOND, '%Y-%m-%dT%TZ') AS newest FROM event_outbox WHERE status = 2`,
    );
    const { n, oldest, newest } = found!;
    if (Number(n) > 0) await this.cli('events', 'replay', '--from', String(oldest), '--to', String(newest));
    return Number(n);
  }

  private async restore(): Promise<void> {
    await this.chapter('the database is restored from a backup', async () => {
      const [backup, ...steps] = blocksOf('restore.md');
      await this.remember();
      await this.places.run(backup!.place, backup!.commands);
      this.load.forget();
      await this.load.more(this.options.sessions);
      const lost = this.load.sessions.length;
      for (const { place, commands } of steps) await this.places.run(place, commands);
      await this.load.more(this.options.sessions);
      return { 'sessions after the backup': lost };
    });
  }

  private async leak(): Promise<void> {
    await this.chapter('the signing key has leaked', async () => {
      await this.remember();
      for (const { place, commands } of blocksOf('leaked-signing-key.md')) await this.places.run(place, commands);
      await this.load.more(this.options.sessions);
    });
    await this.chapter('the data key has leaked, with the database', async () => {
      const former = this.settings.DATA_ENCRYPTION_KEY!;
      const fresh = dataKey('year-3');
      await this.rollOut({ DATA_ENCRYPTION_KEY: `${former},${fresh}` });
      this.nextSettings = { DATA_ENCRYPTION_KEY: `${fresh},${former}` };
      for (const { place, commands } of blocksOf('leaked-data-key.md')) await this.places.run(place, commands);
      await this.rollOut({ DATA_ENCRYPTION_KEY: fresh });
      await this.load.more(this.options.sessions);
    });
  }

  private async secondRegion(): Promise<void> {
    await this.chapter('a second region becomes the replica', async () => {
      await this.regions.replicate();
      await this.load.more(this.options.sessions);
    });
  }

  /** The first region dies under load. @returns what the second one says about each session of the chapter */
  private async dieUnderLoad(): Promise<Notes> {
    const { primary } = this.regions;
    primary.link.setLatency(this.options.latency);
    this.load.forget();
    await this.load.more(this.options.sessions);
    await primary.mariadb.kill();
    await Promise.all(this.fleet.services.map((service) => service.kill()));
    await primary.lose();
    await this.regions.failOver();
    // Everybody who was under way at the loss has failed since then, so these sessions do not change any more.
    const answered = [...this.load.sessions];
    this.send = sendTo(() => this.regions.primary.service?.url ?? nowhere);
    const { lostAccess, lostRefresh, alive } = await judged(this.send, answered);
    await this.load.more(this.options.sessions);
    const ended = answered.filter(({ state }) => state === 'ended').length;
    return {
      'sessions answered': answered.length,
      'sessions lost': lostRefresh,
      'access tokens lost': lostAccess,
      'logouts answered': ended,
      'tokens that live again': alive,
    };
  }

  private async loseRegion(): Promise<void> {
    await this.chapter('the region is lost, with semi-synchronous replication', () => this.dieUnderLoad());
  }

  private async wayBack(): Promise<void> {
    await this.chapter('the way back', async () => {
      this.regions.primary.link.setLatency(0);
      this.regions.replica.link.setLatency(0);
      await this.regions.replica.mariadb.restart();
      await this.regions.replicate();
      await this.load.more(this.options.sessions);
      await this.regions.switchBack();
      await this.load.more(this.options.sessions);
      await this.regions.replicate();
    });
  }

  private async loseRegionUnprotected(): Promise<void> {
    await this.chapter('the region is lost, with asynchronous replication', async () => {
      await this.regions.primary.sql('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
      const found = await this.dieUnderLoad();
      await this.regions.endSessions();
      await this.load.more(this.options.sessions);
      return found;
    });
  }

  /** Runs a command of the version that is installed. */
  private async cli(...args: string[]): Promise<any> {
    const { code, answer, stderr } = await this.fleet.run(args, { root: this.root });
    if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
    return answer;
  }

  /** `OLD_TOKEN` of the runbooks. */
  private async remember(): Promise<void> {
    this.oldToken = (await this.fleet.login('operator')).body.data.access_token as string;
  }

  private change(settings: Record<string, string>): void {
    Object.assign(this.settings, settings);
    this.fleet.set(this.settings);
  }

  /** Replaces all replicas, as a cluster does. */
  private async rollOut(settings: Record<string, string> = {}): Promise<void> {
    this.change(settings);
    const leaving = [...this.fleet.services];
    const coming = await Promise.all(leaving.map(() => this.fleet.launch({ root: this.root })));
    for (const one of coming) await this.fleet.admit(one);
    await this.fleet.retire(...leaving);
  }

  /** Does to two processes what the command does to a Deployment. */
  private async kubectl(args: readonly string[]): Promise<KubectlAnswer> {
    const line = args.join(' ');
    if (line.includes(' exec ')) return { exec: args.slice(args.indexOf('--') + 1) };
    if (line.endsWith('--replicas=0')) await this.stopFleet();
    else if (line.endsWith('--replicas=1')) await this.startFleet();
    else if (line.includes('rollout restart')) {
      const settings = this.nextSettings;
      this.nextSettings = {};
      await this.rollOut(settings);
    } else if (line.includes('patch secret')) {
      const { data } = JSON.parse(args.at(-1)!) as { data: Record<string, string> };
      for (const [name, value] of Object.entries(data))
        this.nextSettings[name] = Buffer.from(value, 'base64').toString().trim();
    }
    return {};
  }

  private async stopFleet(): Promise<void> {
    const leaving: ServiceProcess[] = this.fleet.services.splice(0);
    await Promise.all(leaving.map((service) => service.stop()));
  }

  private async startFleet(): Promise<void> {
    const coming = await Promise.all([1, 2].map(() => this.fleet.launch({ root: this.root })));
    for (const one of coming) await this.fleet.admit(one);
  }
}

const blocksOf = (name: string) => runbooks().find(({ page }) => page === name)!.blocks;
