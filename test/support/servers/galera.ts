import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { clusterState, nodeOptions, preparedData, type NodePorts } from './galera-node';
import { LocalHost } from './local-host';
import { MariaDbDatabases } from './mariadb-databases';
import { inPrivateDirectory, removeDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import type { HostCommand } from './server-host';
import { findProgram, type ProgramName } from './server-programs.mjs';
import { ServerProcess } from './server-process';

const NODES = 3;

/** One MariaDB server of the cluster. */
export class GaleraNode extends PrivateServer {
  constructor(
    server: ServerProcess,
    readonly databases: MariaDbDatabases,
  ) {
    super(server);
  }

  get port(): number {
    return Number(new URL(this.databases.url).port);
  }

  /** The URL of the same database on this node. */
  urlOf(databaseUrl: string): string {
    return Object.assign(new URL(databaseUrl), { port: String(this.port) }).toString();
  }

  async run(statement: string): Promise<unknown> {
    return this.databases.run(statement);
  }

  /** Cuts the node off from the others, as a network that drops their packets does, or lets it return. */
  async isolate(isolated: boolean): Promise<void> {
    await this.run(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isolated ? 1 : 0}'`);
  }

  /** Whether the node takes part in the cluster and answers. */
  async isSynced(nodes = NODES): Promise<boolean> {
    return isSynced(this.databases, nodes);
  }
}

async function isSynced(databases: MariaDbDatabases, nodes: number): Promise<boolean> {
  const statement = "SHOW STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_size')";
  const rows = (await databases.run(statement)) as { Variable_name: string; Value: string }[];
  const of = Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  return of.wsrep_local_state_comment === 'Synced' && Number(of.wsrep_cluster_size) === nodes;
}

/**
 * A private Galera cluster of three MariaDB servers on free ports of 127.0.0.1. All start from copies of one data folder
 * and a stored view of the cluster, as after a power failure, so none has to send its data to the others.
 */
export class Galera {
  private constructor(
    readonly nodes: readonly GaleraNode[],
    private readonly directory: string,
  ) {}

  /**
   * @param options.suspectSeconds how long a node may be silent before the others leave it out. Default: that of Galera
   */
  static async start({ suspectSeconds = 5 } = {}): Promise<Galera> {
    // Fails with a message when a program is missing.
    for (const program of ['galera', 'rsync'] as const) hostFor(program, '', []);
    return inPrivateDirectory('galera', (directory) => Galera.startIn(directory, suspectSeconds));
  }

  /** The node with the number `n`, modulo the number of nodes. */
  node(n: number): GaleraNode {
    return this.nodes[n % this.nodes.length] as GaleraNode;
  }

  /** Creates an empty database in the cluster. @returns its URL on the first node */
  async freshDatabase(name?: string): Promise<string> {
    return this.node(0).databases.freshDatabase(name);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill().then(() => node.stop())));
    await removeDirectory(this.directory);
  }

  private static async startIn(directory: string, suspectSeconds: number): Promise<Galera> {
    const password = randomBytes(16).toString('hex');
    const template = join(directory, 'template');
    await preparedData(template, password);
    const path = await ownRsync(join(directory, 'bin'));
    const numbers = Array.from({ length: NODES }, (_, n) => n);
    const ports: NodePorts[] = [];
    while (ports.length < NODES) {
      ports.push({ sql: await freePort(), group: await freePort(), ist: await freePort(), sst: await freePort() });
    }
    const starting = await Promise.allSettled(
      numbers.map((n) =>
        inPrivateDirectory('galera-node', async (nodeDirectory) => {
          const data = join(nodeDirectory, 'data');
          await cp(template, data, { recursive: true });
          for (const [file, text] of clusterState(n, NODES)) await writeFile(join(data, file), text);
          const own = ports[n] as NodePorts;
          const databases = new MariaDbDatabases(`mysql://tester:${password}@127.0.0.1:${own.sql}`);
          const log = join(nodeDirectory, 'error.log');
          const server = await ServerProcess.start({
            program: 'mariadbd',
            args: nodeOptions({ directory: nodeDirectory, log, n, ports, suspectSeconds }),
            host: new HostWithPath(path),
            directory: nodeDirectory,
            log,
            ready: async () => {
              if (!(await isSynced(databases, NODES))) throw new Error('not synced');
            },
          });
          return new GaleraNode(server, databases);
        }),
      ),
    );
    const nodes = starting.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const cluster = new Galera(nodes, directory);
    const failed = starting.find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) return cluster;
    await cluster.stop();
    throw failed.reason;
  }
}

/** Starts programs with another PATH, in which mariadbd looks for the programs that it runs itself. */
class HostWithPath extends LocalHost {
  constructor(private readonly path: string) {
    super();
  }

  override serve(program: ProgramName, args: string[]): HostCommand {
    const own = super.serve(program, args);
    return { command: 'env', args: [`PATH=${this.path}`, own.command, ...own.args] };
  }
}

/**
 * The script with which a node returns to its cluster starts an rsync daemon. As root, the daemon would write as
 * `nobody`, which may not write to the data folder of the test.
 * @returns the PATH in which the daemon keeps its user
 */
async function ownRsync(folder: string): Promise<string> {
  await mkdir(folder);
  const program = join(folder, 'rsync');
  const real = findProgram('rsync');
  await writeFile(
    program,
    `#!/bin/sh
[ "$(id -u)" = 0 ] || exec ${real} "$@"
case " $* " in *' --daemon '*) exec ${real} --dparam=uid=0 --dparam=gid=0 "$@" ;; esac
exec ${real} "$@"
`,
  );
  await chmod(program, 0o755);
  return [folder, process.env.PATH, '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(delimiter);
}
