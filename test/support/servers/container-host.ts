import { randomBytes } from 'node:crypto';
import { platform } from 'node:os';

import { runCommand } from './run-command';
import type { HostCommand, ServerHost } from './server-host';
import type { ProgramName } from './server-programs.mjs';

const SIGNAL_VERBS = { SIGSTOP: 'pause', SIGCONT: 'unpause', SIGKILL: 'kill' } as const;

/**
 * Runs servers in containers, with the same command line and files as on this machine. The private directory is mounted
 * under the same path. Ports keep their numbers and are published on 127.0.0.1 only.
 */
export class ContainerHost implements ServerHost {
  readonly listenAddress: string;
  readonly loopbackAddress: string;
  private readonly network: string[];
  private name = '';

  constructor(
    private readonly image: string,
    private readonly directory: string,
    ports: number[],
    network: 'published' | 'reaches-loopback',
  ) {
    // Only Linux has a host network. Docker Desktop forwards host.docker.internal to the loopback interface instead.
    const onHostNetwork = network === 'reaches-loopback' && platform() === 'linux';
    this.listenAddress = onHostNetwork ? '127.0.0.1' : '0.0.0.0';
    this.loopbackAddress = onHostNetwork ? '127.0.0.1' : 'host.docker.internal';
    this.network = onHostNetwork ? ['--network', 'host'] : ports.flatMap((port) => ['-p', `127.0.0.1:${port}:${port}`]);
  }

  serve(program: ProgramName, args: string[]): HostCommand {
    // Each start uses a new name, because the name of a removed container is not free at once.
    this.name = `authentication-test-${program}-${randomBytes(6).toString('hex')}`;
    return {
      command: 'docker',
      args: ['run', '--rm', '--init', '--name', this.name, ...this.network, ...this.mounted(program), ...args],
      alsoEnd: `docker rm -f ${this.name} >/dev/null 2>&1`,
    };
  }

  async prepare(program: string, args: string[]): Promise<string> {
    return runCommand('docker', ['run', '--rm', ...this.mounted(program), ...args]);
  }

  async beside(program: string, args: string[], input?: string): Promise<string> {
    return runCommand('docker', ['exec', '-i', this.name, program, ...args], input);
  }

  async signal(signal: keyof typeof SIGNAL_VERBS): Promise<void> {
    await runCommand('docker', [SIGNAL_VERBS[signal], this.name]);
  }

  private mounted(entrypoint: string): string[] {
    const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
    return ['-u', owner, '-v', `${this.directory}:${this.directory}`, '--entrypoint', entrypoint, this.image];
  }
}
