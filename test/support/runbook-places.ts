import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Place } from './runbooks';
import { runScript } from './run-script';

const ROOT = resolve(__dirname, '../..');

/** The small tools that all three places have. */
const tools = 'base64 cat cut date env grep head ls rm sed sleep sort tail tr true wc'.split(' ');
const programs: Record<Place, readonly string[]> = {
  pod: ['sh', 'node'],
  laptop: ['bash', 'curl'],
  'database host': ['bash'],
};

/** What `kubectl` does: prints something, and for `exec` runs a command in the pod, or fails. */
export type KubectlAnswer = { output?: string; exec?: string[] } | { problem: string };

export interface PlacesOptions {
  readonly databaseUrl: string;
  /** The settings of the service, as they are now. */
  readonly settings: () => Record<string, string>;
  /** The variables of the laptop. */
  readonly variables: () => Record<string, string>;
  /** The variables of the database host. Default: none. */
  readonly databaseVariables?: () => Record<string, string>;
  readonly kubectl: (args: readonly string[]) => Promise<KubectlAnswer>;
}

/** The secrets of a pod are files, as in deploy/kustomize. */
const secrets = ['DATABASE_URL', 'JWT_SECRET', 'DATA_ENCRYPTION_KEY'];

/**
 * The places of docs/operations/runbooks. Each has a folder, an environment and programs of its own: a command of another
 * place is not found. The pod has the files of the image, and no block may write there.
 */
export class RunbookPlaces {
  private readonly kubectl: Server;

  private constructor(
    private readonly directory: string,
    private readonly options: PlacesOptions,
  ) {
    this.kubectl = createServer((request, response) => {
      void json(request)
        .then((args) => this.answer(args as string[]))
        .catch((error: unknown) => ({ problem: String(error) }))
        .then((answer) => response.end(JSON.stringify(answer)));
    });
  }

  static async start(options: PlacesOptions): Promise<RunbookPlaces> {
    const places = new RunbookPlaces(await mkdtemp(join(tmpdir(), 'runbooks-')), options);
    try {
      await places.build();
    } catch (error) {
      await places.stop();
      throw error;
    }
    return places;
  }

  async stop(): Promise<void> {
    this.kubectl.close().closeAllConnections();
    await rm(this.directory, { recursive: true });
  }

  /** Runs a block as a person types it, and ends at the first command that fails. */
  async run(place: Place, block: string): Promise<string> {
    const folder = this.folder(place);
    // This machine has such a folder. In a pod nothing is mounted there.
    if (place === 'pod' && block.includes('/tmp')) throw new Error(`/tmp cannot be written (pod):\n${block}`);
    const before = await readdir(folder);
    const [shell, flags] = place === 'pod' ? ['sh', ['-eu']] : ['bash', ['-euo', 'pipefail']];
    const child = spawn(join(this.bin(place), shell), [...flags, '-c', block], {
      cwd: folder,
      env: await this.environment(place),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    const written = (await readdir(folder)).filter((name) => !before.includes(name));
    const problem =
      code !== 0
        ? `a command of this block ended with ${code}`
        : place === 'pod' &&
          written.length > 0 &&
          `the root of a pod is read-only, and this block writes ${written.join()}`;
    if (problem) throw new Error(`${problem} (${place}):\n${block}\n${output}`);
    return output;
  }

  /** Where the commands of a place run, and where their files are. */
  readonly folder = (place: Place) => join(this.directory, place.replace(' ', '-'));
  private bin = (place: Place) => join(this.directory, `bin-${place.replace(' ', '-')}`);

  private async build(): Promise<void> {
    for (const place of ['pod', 'laptop', 'database host'] as const) {
      await mkdir(this.folder(place));
      await mkdir(this.bin(place));
      for (const name of [...tools, ...programs[place]]) await symlink(pathOf(name), join(this.bin(place), name));
    }
    const copied = await runScript('scripts/runtime-files.mjs', '--into', this.folder('pod'));
    if (copied.code !== 0) throw new Error(copied.output);
    await mkdir(join(this.directory, 'secrets'));
    await symlink(join(ROOT, 'deploy'), join(this.folder('laptop'), 'deploy'));
    await this.installMysql();
    this.kubectl.listen(0, '127.0.0.1');
    await once(this.kubectl, 'listening');
    const url = `http://127.0.0.1:${(this.kubectl.address() as AddressInfo).port}`;
    await install(join(this.bin('laptop'), 'kubectl'), `#!${process.execPath}\n${kubectlStub(url)}`);
  }

  /** The tools of the database know the server and the account of the private database, which is called `portal` there. */
  private async installMysql(): Promise<void> {
    const { hostname, port, username, password, pathname } = new URL(this.options.databaseUrl);
    const account = join(this.folder('database host'), '.my.cnf');
    const lines = { protocol: 'tcp', host: hostname, port, user: username, password: decodeURIComponent(password) };
    await writeFile(account, ['[client]', ...Object.entries(lines).map((pair) => pair.join('=')), ''].join('\n'));
    for (const [name, program] of [
      ['mysql', 'mariadb'],
      ['mysqldump', 'mariadb-dump'],
    ] as const) {
      const script = `#!/bin/bash
args=(); for arg in "$@"; do [ "$arg" = portal ] && arg=${pathname.slice(1)}; args+=("$arg"); done
exec ${pathOf(program)} --defaults-file=${account} "\${args[@]}"\n`;
      await install(join(this.bin('database host'), name), script);
    }
  }

  private async environment(place: Place): Promise<Record<string, string>> {
    const own = { PATH: this.bin(place), HOME: this.folder(place) };
    if (place === 'laptop') return { ...own, ...this.options.variables() };
    if (place === 'database host') return { ...own, ...this.options.databaseVariables?.() };
    const settings = { ...this.options.settings() };
    for (const name of secrets) {
      const file = join(this.directory, 'secrets', name);
      await writeFile(file, settings[name] ?? '');
      delete settings[name];
      settings[`${name}_FILE`] = file;
    }
    return { ...own, ...settings };
  }

  private async answer(args: readonly string[]) {
    const folder = args[args.indexOf('-k') + 1];
    if (args.includes('-k') && !existsSync(join(this.folder('laptop'), `${folder}/kustomization.yaml`)))
      return { problem: `no kustomization in ${folder}` };
    const answer = await this.options.kubectl(args);
    if (!('exec' in answer) || answer.exec === undefined) return answer;
    const [name = '', ...rest] = answer.exec;
    const options = { cwd: this.folder('pod'), env: await this.environment('pod') };
    return { output: answer.output, exec: [join(this.bin('pod'), name), rest, options] };
  }
}

/** Asks the test, and forwards `kubectl exec` with its standard input only where `-i` is given. */
const kubectlStub = (url: string) => `
const { spawn } = require('node:child_process');
const args = process.argv.slice(2);
fetch('${url}', { method: 'POST', body: JSON.stringify(args) }).then(async (response) => {
  const { problem, output = '', exec } = await response.json();
  if (problem) { console.error(problem); process.exitCode = 1; return; }
  process.stdout.write(output);
  if (!exec) return;
  const [command, rest, options] = exec;
  const input = args.slice(0, args.indexOf('--')).includes('-i') ? 'inherit' : 'ignore';
  spawn(command, rest, { ...options, stdio: [input, 'inherit', 'inherit'] })
    .on('error', ({ message }) => { console.error(message); process.exitCode = 1; })
    .on('exit', (code) => { process.exitCode = code ?? 1; });
});
`;

async function install(file: string, script: string): Promise<void> {
  await writeFile(file, script);
  await chmod(file, 0o755);
}

function pathOf(program: string): string {
  if (program === 'node') return process.execPath;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${program} is not installed`);
  return found;
}
