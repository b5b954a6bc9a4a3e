import { freePort } from './free-port';
import { GuardedChild } from './guarded-child';
import { inPrivateDirectory, removeDirectory } from './private-directory';

export interface ExampleCommand {
  readonly command: string;
  readonly args?: (port: number) => string[];
  readonly env?: Record<string, string>;
  /** Default: a new empty directory. */
  readonly cwd?: string;
  /** A path that answers 200 when the program is ready. */
  readonly ready: `/${string}`;
  /** Default: a free one. */
  readonly port?: number;
}

/** A program of `examples/` that is not written for Node, as its README starts it. PORT says where it listens. */
export class ExampleProgram {
  private constructor(
    private readonly child: GuardedChild,
    private readonly directory: string,
    readonly port: number,
  ) {}

  static start({ command, args = () => [], env, cwd, ready, ...more }: ExampleCommand): Promise<ExampleProgram> {
    return inPrivateDirectory('example', async (directory) => {
      const port = more.port ?? (await freePort());
      const { PATH = '' } = process.env;
      const child = await GuardedChild.start({
        command,
        args: args(port),
        env: { PATH, HOME: directory, LANG: 'C.UTF-8', PORT: `${port}`, ...env },
        cwd: cwd ?? directory,
        directory,
      });
      const program = new ExampleProgram(child, directory, port);
      const answers = async () => {
        const { status } = await fetch(`${program.url}${ready}`);
        if (status !== 200) throw new Error(`${ready} answered ${status}`);
      };
      try {
        await child.becomeReady(command, answers, 180_000);
      } catch (error) {
        await program.stop();
        throw error;
      }
      return program;
    });
  }

  /** `http://127.0.0.1:port` */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get lines(): readonly string[] {
    return this.child.lines;
  }

  async stop(): Promise<void> {
    await this.child.end('SIGTERM', 60_000);
    await removeDirectory(this.directory);
  }
}
