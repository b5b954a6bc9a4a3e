import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runProgram } from './run-program';

const root = resolve(__dirname, '../..');

/** Runs a script of the project. An object among the arguments is written to a JSON file, whose path is passed. */
export async function runScript(
  script: string,
  ...args: (string | object)[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'script-'));
  try {
    const files = args.map(async (argument, i) => {
      if (typeof argument === 'string') return argument;
      const file = join(folder, `${i}.json`);
      await writeFile(file, JSON.stringify(argument));
      return file;
    });
    const { code, stdout, stderr } = await runProgram(script, await Promise.all(files), {
      env: process.env,
      cwd: root,
    });
    return { code, output: stdout + stderr };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
