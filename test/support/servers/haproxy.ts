import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { createConnection } from 'mysql2/promise';

import { listen, portOf } from '../loopback';
import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

/** The limits of a health check. A node is left out after two failures: at the latest after `switchMs`. */
const checkEveryMs = 500;
const checkTimeoutMs = 2000;
export const switchMs = 2 * (checkEveryMs + checkTimeoutMs);

/**
 * A HAProxy in front of database servers. All connections go to the first healthy one. HAProxy closes the connections of
 * a server that is not healthy (docs/operations/cluster.md).
 */
export class HaProxy extends PrivateServer {
  private constructor(
    server: ServerProcess,
    private readonly checks: readonly Server[],
    private readonly socket: string,
    readonly port: number,
  ) {
    super(server);
  }

  /** @param urls `mysql://` URLs of the servers, the preferred one first */
  static async start(urls: readonly string[]): Promise<HaProxy> {
    return inPrivateDirectory('haproxy', async (directory) => {
      const host = hostFor('haproxy', directory, []);
      const port = await freePort();
      const checks = await Promise.all(urls.map(answerChecks));
      const socket = join(directory, 'haproxy.sock');
      const file = join(directory, 'haproxy.cfg');
      await writeFile(file, configuration(port, socket, urls, checks));
      const server = await ServerProcess.start({
        program: 'haproxy',
        args: ['-db', '-f', file],
        host,
        directory,
        ready: () =>
          createConnection(Object.assign(new URL(urls[0] as string), { port }).toString()).then((c) => c.end()),
      });
      return new HaProxy(server, checks, socket, port);
    });
  }

  /** The servers as HAProxy sees them, in the order of the URLs. */
  async servers(): Promise<{ up: boolean; connections: number }[]> {
    const asked = connect(this.socket);
    asked.end('show stat\n');
    const [head = '', ...lines] = (await text(asked)).trim().split('\n');
    const names = head.replace(/^# /, '').split(',');
    return lines
      .map((line) => Object.fromEntries(line.split(',').map((value, n) => [names[n], value])))
      .filter(({ pxname, svname }) => pxname === 'nodes' && svname !== 'BACKEND')
      .map(({ status, scur }) => ({ up: String(status).startsWith('UP'), connections: Number(scur) }));
  }

  override async stop(): Promise<void> {
    await super.stop();
    for (const check of this.checks) {
      check.closeAllConnections();
      check.close();
    }
  }
}

/** Answers 200 while the server takes writes and, in a cluster, is one of its nodes. */
async function answerChecks(url: string): Promise<Server> {
  const server = createServer((_, response) => {
    isUsable(url).then(
      (usable) => response.writeHead(usable ? 200 : 503).end(),
      () => response.writeHead(503).end(),
    );
  });
  await listen(server);
  return server;
}

async function isUsable(url: string): Promise<boolean> {
  const connection = await createConnection({ uri: url, connectTimeout: checkTimeoutMs });
  // HAProxy asks again and again. A server that does not answer must not collect connections.
  const tooLong = setTimeout(() => connection.destroy(), checkTimeoutMs);
  try {
    const [[row]] = (await connection.query(
      'SELECT @@global.read_only AS refuses, @@global.wsrep_on AS clustered',
    )) as unknown as [{ refuses: number; clustered: number }[]];
    const [ready] = await connection.query("SHOW STATUS WHERE Variable_name = 'wsrep_ready' AND Value = 'ON'");
    return row?.refuses === 0 && (row.clustered === 0 || (ready as unknown[]).length === 1);
  } finally {
    clearTimeout(tooLong);
    connection.destroy();
  }
}

function configuration(port: number, socket: string, urls: readonly string[], checks: readonly Server[]): string {
  const servers = urls.map((url, n) => {
    const check = portOf(checks[n]!);
    return `  server node${n} 127.0.0.1:${new URL(url).port} check port ${check}${n === 0 ? '' : ' backup'}`;
  });
  return `
global
  stats socket ${socket} mode 600 level user
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout client-fin 2s
  timeout server-fin 2s
  timeout check ${checkTimeoutMs}ms
frontend database
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  option httpchk GET /
  default-server inter ${checkEveryMs}ms fall 2 rise 2 on-marked-down shutdown-sessions on-marked-up shutdown-backup-sessions
${servers.join('\n')}
`;
}
