import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { runScript } from './run-script';

const examples = resolve(__dirname, '../../examples');

/** Provides the packed packages, and builds the examples. Does nothing if nothing has changed. */
export async function buildExamples(): Promise<void> {
  const { code, output } = await runScript('scripts/build-examples.mjs');
  if (code !== 0) throw new Error(output);
}

/** Builds one example with other settings, as its README says. */
export async function buildExample(name: string, env: Record<string, string>, ...args: string[]): Promise<void> {
  const options = { cwd: resolve(examples, name), env: { ...process.env, ...env } };
  await promisify(execFile)('npm', ['run', '--silent', 'build', '--', ...args], options);
}
