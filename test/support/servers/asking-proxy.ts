import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { reach } from '../loopback';
import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';
import type { ProgramName } from './server-programs.mjs';

export type ProxyName = 'nginx' | 'apache' | 'haproxy';

/** The examples of a proxy as the page shows them. Apache and HAProxy have a script. */
export interface ProxyExample {
  readonly configuration: string;
  readonly script?: string;
}

/** A proxy that asks `GET /verify`, with the very example that docs/operations/proxies.md shows. */
export class AskingProxy extends PrivateServer {
  private constructor(
    server: ServerProcess,
    readonly port: number,
  ) {
    super(server);
  }

  /** @param ports those of the service and of the application, which replace the ones of the page */
  static async start(name: ProxyName, example: ProxyExample, ports: { service: number; app: number }) {
    return inPrivateDirectory(name, async (directory) => {
      const port = await freePort();
      const program: ProgramName = name === 'apache' ? 'apache2' : name;
      const host = hostFor(program, directory, [port], 'reaches-loopback');
      const script = join(directory, 'portal-verify.lua');
      const file = join(directory, 'proxy.conf');
      const here = (text: string) =>
        text
          .replaceAll('127.0.0.1:3000', `${host.loopbackAddress}:${ports.service}`)
          .replaceAll('127.0.0.1:8080', `${host.loopbackAddress}:${ports.app}`)
          .replaceAll('127.0.0.1:8000', `${host.listenAddress}:${port}`)
          .replace(/\/etc\/\w+\/portal-verify\.lua/g, script)
          // On a busy machine a check may take longer than the page allows.
          .replace(/(timeout\w*(?: =| connect)?) (5000|[25])(?=s?\b)/gi, (_, name: string, limit: string) =>
            limit === '5000' ? `${name} 60000` : `${name} 60`,
          );
      await writeFile(file, around[name](directory, here(example.configuration), `${host.listenAddress}:${port}`));
      if (example.script !== undefined) await writeFile(script, here(example.script));
      await chmod(directory, 0o755);
      const ready = () => reach(port);
      const log = name === 'apache' ? join(directory, 'error.log') : undefined;
      const args = argumentsOf[name](directory, file);
      const server = await ServerProcess.start({ program, args, host, directory, ready, log });
      return new AskingProxy(server, port);
    });
  }
}

const argumentsOf: Record<ProxyName, (directory: string, file: string) => string[]> = {
  nginx: (directory, file) => ['-p', directory, '-e', 'stderr', '-c', file],
  apache: (directory, file) => ['-d', directory, '-f', file, '-D', 'FOREGROUND'],
  haproxy: (_, file) => ['-db', '-f', file],
};

/** What the program needs around the example to run in a private directory. */
const around: Record<ProxyName, (directory: string, example: string, listen: string) => string> = {
  nginx: (directory, example) => `
daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${directory}/nginx.pid;
error_log stderr notice;
events { worker_connections 256; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${directory}/${kind};`).join('\n  ')}
${example}
}
`,
  // Without `User`, Apache says that it cannot change its user, and reads the private directory as root.
  apache: (directory, example, listen) => `
ServerName localhost
PidFile ${directory}/apache.pid
DefaultRuntimeDir ${directory}
ErrorLog ${directory}/error.log
Listen ${listen}
${['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http', 'lua']
  .map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`)
  .join('\n')}
${example}
`,
  haproxy: (_, example) => `${example}\n`,
};
