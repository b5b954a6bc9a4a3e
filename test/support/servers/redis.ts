import { Redis as RedisClient } from 'ioredis';

import type { CertificateAuthority } from './certificates';
import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

/** A private Redis without persistence: a kill or a restart loses all data. */
export class Redis extends PrivateServer {
  private constructor(
    server: ServerProcess,
    /** `redis://127.0.0.1:port`, or `rediss://` with an authority */
    readonly url: string,
    private readonly ca?: string,
  ) {
    super(server);
  }

  /** @param authority makes a Redis that takes TLS connections only, with a certificate of this authority */
  static async start(authority?: CertificateAuthority): Promise<Redis> {
    return inPrivateDirectory('redis', async (directory) => {
      const port = await freePort();
      const host = hostFor('redis-server', directory, [port]);
      const url = `${authority ? 'rediss' : 'redis'}://127.0.0.1:${port}`;
      const certificate = await authority?.issue();
      const tls = certificate && [
        ...[
          '--port',
          '0',
          '--tls-port',
          `${port}`,
          '--tls-auth-clients',
          'no',
          '--tls-ca-cert-file',
          authority!.caFile,
        ],
        ...['--tls-cert-file', certificate.certFile, '--tls-key-file', certificate.keyFile],
      ];
      const server = await ServerProcess.start({
        program: 'redis-server',
        args: [
          ...(tls ?? ['--port', `${port}`]),
          ...['--bind', host.listenAddress, '--protected-mode', 'no'],
          ...['--dir', directory, '--save', '', '--appendonly', 'no'],
        ],
        host,
        directory,
        ready: () => ask(url, (client) => client.ping(), authority?.ca),
      });
      return new Redis(server, url, authority?.ca);
    });
  }

  /** Deletes all keys. */
  async flush(): Promise<void> {
    await ask(this.url, (client) => client.flushall(), this.ca);
  }

  async size(): Promise<number> {
    return ask(this.url, (client) => client.dbsize(), this.ca);
  }
}

async function ask<T>(url: string, question: (client: RedisClient) => Promise<T>, ca?: string): Promise<T> {
  const client = new RedisClient(url, {
    ...(ca !== undefined && { tls: { ca } }),
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
