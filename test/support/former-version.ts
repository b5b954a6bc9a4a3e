import { execFile, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './replicas';

const run = promisify(execFile);

/** @returns undefined if git fails, for example because there is no repository or no such commit */
function git(...args: string[]): string | undefined {
  try {
    const text = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The commit of the version before: the newest tag before this commit, otherwise the commit before the newest migration. */
export function formerCommit(): string | undefined {
  // A folder inside of another repository has no history of its own.
  if (git('rev-parse', '--show-prefix') !== undefined) return undefined;
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD~1');
  const newest = readdirSync(join(ROOT, 'migrations'))
    .filter((name) => /^\d+-.*\.ts$/.test(name))
    .sort()
    .at(-1);
  const added = git('log', '--diff-filter=A', '--format=%H', '-1', '--', `migrations/${newest}`);
  const before = tag ?? (added && `${added}~1`);
  return before && git('rev-parse', '--verify', '--quiet', `${before}^{commit}`);
}

/** The program of another commit, built with the packages of this one. Its types were checked when it was this version. */
export class FormerVersion {
  private constructor(readonly root: string) {}

  static async build(commit: string): Promise<FormerVersion> {
    const root = await mkdtemp(join(tmpdir(), 'former-version-'));
    const archive = join(root, 'source.tar');
    await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
    await run('tar', ['-xf', archive, '-C', root]);
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], { cwd: root });
    await run(process.execPath, ['scripts/bundle.mjs'], { cwd: root });
    return new FormerVersion(root);
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
