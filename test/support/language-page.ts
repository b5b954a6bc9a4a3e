import { spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');

interface Language {
  /** The file of the program on the page. */
  readonly program: string;
  /** Where the commands of the page run, below the folder of the language. */
  readonly place?: string;
  readonly env?: (folder: string) => Record<string, string>;
  /** What a package manager with network would bring, from Debian's packages. */
  readonly prepare?: (place: string) => Promise<void>;
}

/** The version without `openApiNullable` cannot generate a Java client that needs only Jackson. */
const generators = { '1.0.18-4.3.1': 'openapi-generator', '1.0.18-5.0.0-beta2': 'openapi-generator-java' };
const jarOf = (name: string): string => join(root, 'tools/node_modules', name, 'bin/openapi-generator.jar');

const autoload = `<?php
require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function ($class) {
    if (str_starts_with($class, 'PortalAuth\\\\')) {
        require 'client/lib/' . str_replace('\\\\', '/', substr($class, 11)) . '.php';
    }
});
`;

export const languages: Readonly<Record<string, Language>> = {
  python: { program: 'main.py' },
  java: {
    program: 'Main.java',
    prepare: async (place) => {
      await mkdir(join(place, 'lib'));
      await symlink(jarOf('openapi-generator-java'), join(place, 'lib/openapi-generator.jar'));
    },
  },
  go: {
    program: 'main.go',
    place: 'src/example.com/app',
    // Debian has the sources of packages, which a build without modules finds.
    env: (folder) => ({
      GO111MODULE: 'off',
      GOPATH: `${folder}:/usr/share/gocode`,
      GOCACHE: join(folder, 'cache'),
    }),
  },
  php: {
    program: 'main.php',
    prepare: async (place) => {
      await mkdir(join(place, 'vendor'));
      await writeFile(join(place, 'vendor/autoload.php'), autoload);
    },
  },
};

/** The commands and the program of a page of `docs/languages`, run as a reader would run them. */
export class LanguagePage {
  private constructor(
    private readonly place: string,
    private readonly commands: readonly string[],
    private readonly env: Record<string, string>,
  ) {}

  /** @param folder an empty one, which the commands fill */
  static async open(name: string, folder: string, url: string): Promise<LanguagePage> {
    const { program, place = '', env, prepare } = languages[name]!;
    const page = await readFile(join(root, 'docs/languages', `${name}.md`), 'utf8');
    const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
      language,
      text: text!,
    }));
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => here(text, url));
    const working = join(folder, place);
    await mkdir(working, { recursive: true });
    await writeFile(
      join(working, program),
      blocks
        .filter(({ language }) => language !== 'sh')
        .map(({ text }) => text)
        .join(''),
    );
    await prepare?.(working);
    // Debian's Python and PHP, which have the packages, and the Java beside the running Node's PATH.
    const PATH = `/usr/bin:/bin:${dirname(process.execPath)}`;
    return new LanguagePage(working, commands, { PATH, HOME: folder, LANG: 'C.UTF-8', ...env?.(folder) });
  }

  /** Runs all commands but the last one, which starts the program. */
  async build(): Promise<void> {
    for (const command of this.commands.slice(0, -1)) await this.run(command);
  }

  /** Runs the program, and types what `typed` resolves to. @returns what it printed */
  async start(env: Record<string, string>, typed: Promise<string>): Promise<string> {
    return this.run(this.commands.at(-1)!, env, typed);
  }

  private async run(command: string, env: Record<string, string> = {}, typed?: Promise<string>): Promise<string> {
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', command], {
      cwd: this.place,
      env: { ...this.env, ...env },
      stdio: 'pipe',
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    // The program may have ended before it reads.
    child.stdin.on('error', () => undefined);
    const ended = new Promise<void>((done, failed) => {
      child.once('error', failed);
      child.once('close', (code) => {
        if (code === 0) done();
        else failed(new Error(`${command}\nended with ${code}:\n${output}${errors}`));
      });
    });
    void typed?.then(
      (text) => child.stdin.end(`${text}\n`),
      () => child.kill(),
    );
    if (typed === undefined) child.stdin.end();
    await ended;
    return output;
  }
}

/** The command of the page with the service and the installed generator of the test. */
function here(command: string, url: string): string {
  return command
    .replaceAll('https://auth.example.com', url)
    .replace(/npx @openapitools\/openapi-generator-cli@(\S+)/g, (_npx, version: string) => {
      const name = Object.entries(generators).find(([known]) => known === version)?.[1];
      if (name === undefined) throw new Error(`tools/package.json has no generator ${version}`);
      return `java -jar '${jarOf(name)}'`;
    });
}
