import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { reach } from '../loopback';
import { hostFor } from './choose-host';
import { eventually } from './eventually';
import { freePort } from './free-port';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import type { ServerHost } from './server-host';
import { ServerProcess } from './server-process';

/** An nginx in front of several replicas: round robin, keep-alive connections to the upstreams, X-Forwarded-For. */
export class Nginx extends PrivateServer {
  private constructor(
    server: ServerProcess,
    private readonly host: ServerHost,
    private readonly directory: string,
    readonly port: number,
  ) {
    super(server);
  }

  /** @param upstreamPorts ports of 127.0.0.1 that receive requests in turn */
  static async start(upstreamPorts: number[]): Promise<Nginx> {
    return inPrivateDirectory('nginx', async (directory) => {
      const port = await freePort();
      const host = hostFor('nginx', directory, [port], 'reaches-loopback');
      await writeFile(join(directory, 'nginx.conf'), configuration(directory, host, port, upstreamPorts));
      const server = await ServerProcess.start({
        program: 'nginx',
        // `-p` keeps nginx out of the folders of the installed package. `-e` does so for the time before it reads the
        // configuration.
        args: ['-p', directory, '-e', 'stderr', '-c', join(directory, 'nginx.conf')],
        host,
        directory,
        ready: () => reach(port),
      });
      return new Nginx(server, host, directory, port);
    });
  }

  /** `http://127.0.0.1:port` */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sends new requests only to these ports. Running requests finish on their old upstream. */
  async setUpstreams(upstreamPorts: number[]): Promise<void> {
    const file = join(this.directory, 'nginx.conf');
    await writeFile(file, configuration(this.directory, this.host, this.port, upstreamPorts));
    const before = this.workersLeaving();
    await this.host.beside('nginx', ['-p', this.directory, '-e', 'stderr', '-c', file, '-s', 'reload']);
    await eventually(() => this.workersLeaving() > before, { what: 'nginx takes its new configuration' });
  }

  /** Number of workers with an old configuration that accept no new connections. */
  private workersLeaving(): number {
    return this.server.lines.filter((line) => line.includes('gracefully shutting down')).length;
  }
}

function configuration(directory: string, host: ServerHost, port: number, upstreamPorts: number[]): string {
  const upstreams = upstreamPorts.map((upstream) => `server ${host.loopbackAddress}:${upstream};`);
  const buffers = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${directory}/nginx.pid;
error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off;
  ${buffers.map((kind) => `${kind}_temp_path ${directory}/${kind};`).join('\n  ')}
  upstream service {
    ${upstreams.join('\n    ')}
    keepalive 32;
  }
  server {
    listen ${host.listenAddress}:${port};
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;
}
