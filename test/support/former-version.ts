import { execFile, execFileSync } from 'node:child_process';
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

/** The versions of migrations/releases.ts, as they were released. Each release adds its own commit. */
const commits: Readonly<Record<string, string>> = {
  '1.0.0': 'e8d49be11af9de0b8437d9608514ce270a09eaab',
  '1.1.0': 'c8c9673713c89591257eae671d15c4da51e9c96e',
};

/** @returns undefined where the history is missing, as in an archive or a shallow clone */
export function releasedCommit(version: string): string | undefined {
  const released = commits[version];
  if (released === undefined) throw new Error(`test/support/former-version.ts has no commit of version ${version}`);
  // A folder inside of another repository has no history of its own.
  if (git('rev-parse', '--show-prefix') !== undefined) return undefined;
  return git('rev-parse', '--verify', '--quiet', `${released}^{commit}`);
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
