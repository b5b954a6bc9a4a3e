import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingsReader } from './settings-reader';

/**
 * Outside production, generates a secret for a setting that is not set, and stores it below `DATA_DIR`. Tokens and
 * sealed values thus survive a restart.
 * @returns the kept secret, or '' after a problem with `DATA_DIR` was reported
 */
export function keptSecret(env: SettingsReader, dataDir: string, name: string, make: () => string): string {
  const directory = join(dataDir, 'secrets');
  const file = join(directory, name);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return read(file) ?? keep(file, make());
  } catch {
    env.problem('DATA_DIR', 'names a directory that cannot be written, so no secret can be kept there');
    return '';
  }
}

/** A new secret of so many bytes, in base64. */
export const randomSecret = (bytes: number): string => randomBytes(bytes).toString('base64');

/**
 * Race: several processes start at the same time with an empty directory. The first link wins. The linked file is
 * complete, so the other processes read the whole secret of the winner.
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
