import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param root the folder of the project
 * @param withNew also files that git does not track yet and does not ignore
 * @returns the paths of the files from the root. Deleted files and symbolic links to folders have no text and are left out
 */
export function projectFiles(root, { withNew = false } = {}) {
  const options = withNew ? ['--cached', '--others', '--exclude-standard'] : [];
  const listed = execFileSync('git', ['ls-files', '-z', ...options], { cwd: root, encoding: 'utf8' });
  return listed
    .split('\0')
    .filter((path) => path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile());
}
