import { createConnection } from 'mysql2/promise';

import { eventually } from '../support/servers/eventually';
import { HaProxy } from '../support/servers/haproxy';
import { MariaDb } from '../support/servers/mariadb';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

describe('HaProxy', () => {
  let servers: MariaDb[];
  let proxy: HaProxy;

  beforeAll(async () => {
    servers = await Promise.all([MariaDb.start(['--server-id=1']), MariaDb.start(['--server-id=2'])]);
    // One account for both, as in a cluster.
    for (const server of servers) {
      await new MariaDbDatabases(server.url).run("CREATE USER service@'%' IDENTIFIED BY 'word'");
    }
    proxy = await HaProxy.start(servers.map(({ url }) => urlFor(url)));
  });
  afterAll(async () => {
    await proxy.stop();
    await Promise.all(servers.map((server) => server.stop()));
  });

  const urlFor = (url: string) => Object.assign(new URL(url), { username: 'service', password: 'word' }).toString();

  async function connected() {
    const connection = await createConnection({
      host: '127.0.0.1',
      port: proxy.port,
      user: 'service',
      password: 'word',
    });
    connection.on('error', () => undefined);
    return connection;
  }

  /** A connection that HAProxy has given to the server with this number. */
  async function connectedTo(server: number) {
    const connection = await connected();
    const [rows] = await connection.query('SELECT @@server_id AS id');
    if ((rows as { id: number }[])[0]?.id === server) return connection;
    connection.destroy();
    return undefined;
  }

  it('sends everything to the first server, and to the second one when the first is read-only, frozen or killed', async () => {
    const [first] = servers;
    const all = new MariaDbDatabases(first!.url);
    const faults: [() => Promise<unknown>, () => Promise<unknown>][] = [
      [() => all.run('SET GLOBAL read_only = 1'), () => all.run('SET GLOBAL read_only = 0')],
      [() => first!.suspend(), () => first!.resume()],
      [() => first!.kill(), () => first!.restart()],
    ];
    for (const [fail, heal] of faults) {
      const open = await eventually(() => connectedTo(1), { what: 'the first server' });
      const closed = new Promise((resolve) => open.once('error', resolve));
      await fail();
      await closed;
      (await eventually(() => connectedTo(2), { what: 'the second server' })).destroy();
      const left = async () => {
        const [state] = await proxy.servers();
        return state?.up === false && state.connections === 0;
      };
      await eventually(left, { what: 'no connection to the first server' });
      await heal();
    }
  });
});
