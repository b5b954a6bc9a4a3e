import { Redis as RedisClient } from 'ioredis';

import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

/** A private Redis without persistence: a kill or a restart loses all data. */
export class Redis extends PrivateServer {
  private constructor(
    server: ServerProcess,
    /** `redis://127.0.0.1:port` */
    readonly url: string,
  ) {
    super(server);
  }

  static async start(): Promise<Redis> {
    return inPrivateDirectory('redis', async (directory) => {
      const port = await freePort();
      const host = hostFor('redis-server', directory, [port]);
      const url = `redis://127.0.0.1:${port}`;
      const server = await ServerProcess.start({
        program: 'redis-server',
        args: [
          ...['--port', `${port}`, '--bind', host.listenAddress, '--protected-mode', 'no'],
          ...['--dir', directory, '--save', '', '--appendonly', 'no'],
        ],
        host,
        directory,
        ready: () => ask(url, (client) => client.ping()),
      });
      return new Redis(server, url);
    });
  }

  /** Deletes all keys. */
  async flush(): Promise<void> {
    await ask(this.url, (client) => client.flushall());
  }
}

async function ask<T>(url: string, question: (client: RedisClient) => Promise<T>): Promise<T> {
  const client = new RedisClient(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 30_000,
    disconnectTimeout: 100,
  });
  // The promise rejects with the error as well. Without a listener ioredis prints it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await question(client);
  } finally {
    client.disconnect();
  }
}
