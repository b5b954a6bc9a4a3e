import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

const example = resolve(__dirname, '../../../examples/nginx');

/** The files of examples/nginx as they are, except for the ports. */
export class ExampleNginx extends PrivateServer {
  private constructor(
    server: ServerProcess,
    readonly port: number,
  ) {
    super(server);
  }

  static async start(ports: { service: number; app: number }): Promise<ExampleNginx> {
    return inPrivateDirectory('nginx', async (directory) => {
      const port = await freePort();
      const host = hostFor('nginx', directory, [port], 'reaches-loopback');
      await cp(example, directory, { recursive: true });
      const file = join(directory, 'nginx.conf');
      const text = (await readFile(file, 'utf8'))
        .replace('127.0.0.1:3000', `${host.loopbackAddress}:${ports.service}`)
        .replace('127.0.0.1:8081', `${host.loopbackAddress}:${ports.app}`)
        .replace('127.0.0.1:8080', `${host.listenAddress}:${port}`);
      await writeFile(file, text);
      const user = process.getuid?.() === 0 ? ' user root;' : '';
      const server = await ServerProcess.start({
        program: 'nginx',
        args: ['-p', directory, '-e', 'stderr', '-c', file, '-g', `daemon off;${user}`],
        host,
        directory,
        ready: async () => {
          const { status } = await fetch(`http://127.0.0.1:${port}/health`);
          if (status !== 200) throw new Error(`/health answered ${status}`);
        },
      });
      return new ExampleNginx(server, port);
    });
  }

  /** `http://127.0.0.1:port` */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
}
