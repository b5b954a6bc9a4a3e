import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingsReader } from './settings-reader';

/**
 * Outside production a secret that is not set is generated once and kept under `DATA_DIR`, so that tokens and sealed
 * values survive a restart.
 * @returns the kept secret, or '' after noting a problem with `DATA_DIR`
 */
export function keptSecret(env: SettingsReader, dataDir: string, name: string, make: () => string): string {
  const directory = join(dataDir, 'secrets');
  const file = join(directory, name);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return read(file) ?? keep(file, make());
  } catch {
    env.problem('DATA_DIR', 'names a directory in which no secret can be kept');
    return '';
  }
}

/**
 * Racers: processes that start together on one empty directory. The link decides, and it appears with its content: a
 * loser reads the winner's secret, never half of it.
 */
function keep(file: string, secret: string): string {
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  writeFileSync(draft, secret, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return read(file) ?? secret;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
