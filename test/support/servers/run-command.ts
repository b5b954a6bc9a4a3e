import { spawn } from 'node:child_process';

/** Runs a command to its end and gives its standard output; fails with everything it printed when it fails. */
export async function runCommand(command: string, args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: process.env, stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    let complaints = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    // A command that does not read its input closes it, which is its right.
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${signal ?? code}:\n${output}${complaints}`));
    });
    child.stdin.end(input);
  });
}
