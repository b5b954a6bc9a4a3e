import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

export interface Ended {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a built program or a script of the project, and waits for its end.
 * @param script path from the root of the project, or an absolute one
 * @param options.env its whole environment, except for PATH
 */
export function runProgram(
  script: string,
  args: readonly string[],
  { env, cwd, input = '' }: { env: Record<string, string | undefined>; cwd: string; input?: string },
): Promise<Ended> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [resolve(ROOT, script), ...args], {
      cwd,
      env: { PATH: process.env.PATH, ...env },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', failed);
    child.on('close', (code) =>
      done({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
    // A program that does not read its input may have ended already.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
