/** The packages of this folder. A plain `npm ci` of the project does not install them (docs/dependencies.md). */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const stamp = `${folder}node_modules/.installed`;

/**
 * Installs the packages of tools/package-lock.json, unless they are installed. `npm ci` deletes the stamp first, so an
 * interrupted installation is repeated. Two installations at once disturb each other: the tests call this before jest starts.
 */
export function installTools() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${folder}package-lock.json`))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('Installing the packages of tools/ …\n');
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm ci in tools/ failed, see its output above');
  writeFileSync(stamp, wanted);
}
