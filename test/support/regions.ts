import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RegionPage, type RegionBlock } from './region-page';
import { type KubectlAnswer, RunbookPlaces } from './runbook-places';
import { eventually } from './servers/eventually';
import { freePort } from './servers/free-port';
import { MariaDb } from './servers/mariadb';
import { MariaDbDatabases } from './servers/mariadb-databases';
import { ServiceProcess } from './servers/service-process';
import { TcpProxy } from './servers/tcp-proxy';

const replicationPassword = 'replication-of-the-test';
const accountPassword = 'account-of-the-test';

interface Serving {
  readonly ready?: '/health/ready' | '/health/live';
  readonly settings?: Record<string, string>;
}

/** A region: its database, the link by which the other one replicates it, its places, and its service while it has pods. */
export class Region {
  service: ServiceProcess | undefined;
  other!: Region;
  /** What a step has printed for the next one. */
  position = '';
  places!: RunbookPlaces;

  private constructor(
    readonly mariadb: MariaDb,
    /** Between this database and the replica in the other region. */
    readonly link: TcpProxy,
    private readonly port: number,
    private readonly settings: Record<string, string>,
  ) {}

  /** @param options of mariadbd */
  static async start(id: number, options: readonly string[], settings: Record<string, string>): Promise<Region> {
    const mariadb = await MariaDb.start([...options, `--server-id=${id}`]);
    const link = await TcpProxy.start(Number(new URL(mariadb.url).port));
    const region = new Region(mariadb, link, await freePort(), settings);
    await region.sql(
      `SET STATEMENT sql_log_bin = 0 FOR CREATE USER service@'%' IDENTIFIED BY '${accountPassword}'`,
      `SET STATEMENT sql_log_bin = 0 FOR GRANT SELECT, INSERT, UPDATE, DELETE ON portal.* TO service@'%'`,
    );
    region.places = await RunbookPlaces.start({
      databaseUrl: Object.assign(new URL(mariadb.url), { pathname: '/portal' }).toString(),
      settings: () => region.env,
      variables: () => ({ AUTH_URL: `http://127.0.0.1:${region.port}` }),
      databaseVariables: () => ({
        OTHER_HOST: '127.0.0.1',
        OTHER_PORT: `${region.other.link.port}`,
        REPLICATION_PASSWORD: replicationPassword,
        POSITION: region.other.position,
      }),
      kubectl: (args) => region.kubectl(args.join(' ')),
    });
    return region;
  }

  /** The settings of the service, whose account may only read and write rows: `read_only` binds it. */
  get env(): Record<string, string> {
    const account = { username: 'service', password: accountPassword, pathname: '/portal' };
    const DATABASE_URL = Object.assign(new URL(this.mariadb.url), account).toString();
    return { ...this.settings, DATABASE_URL, MIGRATE_ON_START: 'false', PORT: `${this.port}` };
  }

  /** Starts the service. On a read-only database it is alive, and not ready. */
  async serve({ ready = '/health/ready', settings = {} }: Serving = {}): Promise<ServiceProcess> {
    this.service ??= await ServiceProcess.start({ env: { ...this.env, ...settings }, ready });
    return this.service;
  }

  /** Ends the service, which would wait three seconds for its ingress after SIGTERM. No request is under way. */
  async unserve(): Promise<void> {
    const { service } = this;
    this.service = undefined;
    await service?.kill();
  }

  /** Runs statements with the account that has all privileges. @returns the rows of the last one */
  async sql(...statements: string[]): Promise<unknown> {
    let rows: unknown;
    for (const statement of statements) rows = await new MariaDbDatabases(this.mariadb.url).run(statement);
    return rows;
  }

  /** Runs a statement with the account of the service. */
  async sqlOfService(statement: string): Promise<unknown> {
    return new MariaDbDatabases(this.env.DATABASE_URL!).run(statement);
  }

  /** The region is lost: its database and its service end as by a power cut. */
  async lose(): Promise<void> {
    await this.mariadb.kill();
    await this.unserve();
  }

  async stop(): Promise<void> {
    await this.service?.kill();
    await this.places?.stop();
    await this.link.stop();
    await this.mariadb.stop();
  }

  /** Does to one process what the command does to a Deployment. */
  private async kubectl(line: string): Promise<KubectlAnswer> {
    const scaled = /^-n portal scale deployment\/portal-authentication --replicas=([01])$/.exec(line)?.[1];
    if (scaled === '0') await this.unserve();
    else if (scaled === '1') await this.serve();
    else if (!/^-n portal (rollout status|wait) /.test(line)) return { problem: `an unknown command: kubectl ${line}` };
    return {};
  }
}

/** Two regions, and the steps of docs/operations/second-region.md. */
export class Regions {
  readonly page = new RegionPage();
  /** The blocks that ran. */
  readonly rehearsed = new Set<RegionBlock>();

  private constructor(
    public primary: Region,
    public replica: Region,
  ) {}

  static async start(settings: Record<string, string>): Promise<Regions> {
    const { settings: options } = new RegionPage();
    const [primary, replica] = await Promise.all([1, 2].map((id) => Region.start(id, options, settings)));
    primary!.other = replica!;
    replica!.other = primary!;
    return new Regions(primary!, replica!);
  }

  async stop(): Promise<void> {
    await Promise.all([this.primary.stop(), this.replica.stop()]);
  }

  /** "A region becomes the replica": the other one is the primary, and serves meanwhile. */
  async replicate(): Promise<void> {
    const blocks = this.page.blocks('A region becomes the replica');
    for (const block of blocks) {
      await this.run(block);
      if (block.commands.includes('mysqldump'))
        await copyFile(fileOf(this.primary, 'portal.sql'), fileOf(this.replica, 'portal.sql'));
      if (block.commands.includes('Rpl_semi_sync_master_%')) await this.acknowledges();
    }
  }

  /** "The first region is lost", except for the sessions. */
  async failOver(): Promise<void> {
    for (const block of this.page.blocks('The first region is lost'))
      if (!block.commands.includes('revoke-tokens')) await this.run(block);
    this.exchange();
  }

  /** Step 5 of the failover, after it. */
  async endSessions(): Promise<void> {
    for (const block of this.page.blocks('The first region is lost'))
      if (block.commands.includes('revoke-tokens')) {
        this.rehearsed.add(block);
        await this.primary.places.run(block.place, block.commands);
      }
  }

  /** "The way back", step 2: the planned switch. */
  async switchBack(): Promise<void> {
    for (const block of this.page.blocks('The way back')) {
      const output = await this.run(block);
      if (block.commands.includes('gtid_binlog_pos')) this.primary.position = output.trim();
    }
    for (const block of this.page.blocks('The first region is lost'))
      if (!/IO_THREAD|revoke-tokens/.test(block.commands)) await this.run(block);
    this.exchange();
  }

  /** Waits until the replica acknowledges commits. */
  async acknowledges(): Promise<void> {
    const status = async (name: string) =>
      ((await this.primary.sql(`SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_${name}'`)) as { Value: string }[])[0]
        ?.Value;
    const both = async () => (await status('clients')) === '1' && (await status('status')) === 'ON';
    await eventually(both, { what: 'one replica that acknowledges commits', timeout: 120_000 });
  }

  private exchange(): void {
    [this.primary, this.replica] = [this.replica, this.primary];
  }

  private async run(block: RegionBlock): Promise<string> {
    this.rehearsed.add(block);
    const regions = block.role === 'both' ? [this.primary, this.replica] : [this[block.role]];
    let output = '';
    for (const { places } of regions) output += await places.run(block.place, block.commands);
    return output;
  }
}

const fileOf = ({ places }: Region, name: string) => join(places.folder('database host'), name);
