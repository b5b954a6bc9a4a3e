import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a built program, and waits for its end. `env` is its whole environment, except for PATH. */
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
