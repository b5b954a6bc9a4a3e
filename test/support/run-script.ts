import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');

/** Runs a script of the project. An object among the arguments is written to a JSON file, whose path is passed. */
export async function runScript(
  script: string,
  ...args: (string | object)[]
): Promise<{ readonly code: number; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'script-'));
  try {
    const files = args.map(async (argument, i) => {
      if (typeof argument === 'string') return argument;
      const file = join(folder, `${i}.json`);
      await writeFile(file, JSON.stringify(argument));
      return file;
    });
    const command = [join(root, script), ...(await Promise.all(files))];
    return await new Promise((done) => {
      const child = execFile(process.execPath, command, { cwd: root }, (_error, stdout, stderr) =>
        done({ code: child.exitCode ?? 1, output: stdout + stderr }),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
