import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { installPackages } from '../support/servers/install-servers.mjs';
import { findProgram, planFor, SERVER_PROGRAMS } from '../support/servers/server-programs.mjs';

describe('the programs that the tests need', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'programs-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  async function place(folder: string, name: string, mode = 0o755): Promise<string> {
    const file = join(directory, folder, name);
    await mkdir(join(directory, folder), { recursive: true });
    await writeFile(file, '');
    await chmod(file, mode);
    return file;
  }

  it('are found in PATH, in the system folders, and under alternative names', async () => {
    const [first, second] = [join(directory, 'first'), join(directory, 'second')];
    expect(findProgram('redis-server', first, [second])).toBeNull();
    const inSystem = await place('second', 'redis-server');
    expect(findProgram('redis-server', first, [second])).toBe(inSystem);
    const inPath = await place('first', 'redis-server');
    expect(findProgram('redis-server', first, [second])).toBe(inPath);
    const other = await place('second', 'google-chrome');
    expect(findProgram('chromium', first, [second])).toBe(other);
  });

  it('are not found if the file of that name is not executable', async () => {
    await place('first', 'nginx', 0o644);
    expect(findProgram('nginx', join(directory, 'first'), [])).toBeNull();
  });

  it('need no installation when none is missing', () => {
    expect(planFor([], { canInstall: true, hasDocker: true })).toEqual({ kind: 'ready' });
  });

  it('are installed if that is possible', () => {
    expect(planFor(['mariadbd', 'slapd', 'chromium'], { canInstall: true, hasDocker: true })).toEqual({
      kind: 'install',
      packages: ['mariadb-server', 'slapd', 'chromium-headless-shell'],
    });
  });

  it('are replaced by containers if they cannot be installed', () => {
    expect(planFor(['mariadbd', 'nginx'], { canInstall: false, hasDocker: true })).toEqual({
      kind: 'containers',
      missing: ['mariadbd', 'nginx'],
    });
  });

  it('end the run, with a list of their names, if they can be neither installed nor replaced', () => {
    expect(planFor(['slapd'], { canInstall: false, hasDocker: false })).toEqual({
      kind: 'impossible',
      missing: ['slapd'],
    });
    expect(planFor(['slapd', 'chromium'], { canInstall: false, hasDocker: true })).toEqual({
      kind: 'impossible',
      missing: ['chromium'],
    });
  });

  it('all have a Debian package', () => {
    for (const { commands, debian } of Object.values(SERVER_PROGRAMS)) {
      expect(commands.length).toBeGreaterThan(0);
      expect(debian).toMatch(/^[a-z][a-z0-9-]+$/);
    }
  });

  describe('during their installation', () => {
    let policy: string;
    let commands: string[];

    beforeEach(() => {
      policy = join(directory, 'policy-rc.d');
      commands = [];
    });

    async function record(command: string, args: string[], env?: Record<string, string>): Promise<void> {
      const forbidden = (await readFile(policy, 'utf8')).includes('exit 101');
      const { mode } = await stat(policy);
      commands.push([command, ...args.filter((arg) => /^[a-z]/.test(arg))].join(' '));
      expect({ forbidden, runs: (mode & 0o111) === 0o111, env }).toEqual({
        forbidden: true,
        runs: true,
        env: { DEBIAN_FRONTEND: 'noninteractive' },
      });
    }

    it('do not start their services, and the policy file that prevents it is removed afterwards', async () => {
      await installPackages(['slapd', 'nginx-light'], record, policy);
      expect(commands).toEqual(['apt-get update', 'apt-get install slapd nginx-light']);
      await expect(stat(policy)).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('leave no policy file behind when the installation fails', async () => {
      const fail = () => Promise.reject(new Error('no network'));
      await expect(installPackages(['slapd'], fail, policy)).rejects.toThrow('no network');
      await expect(stat(policy)).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('do not change an existing policy file of the administrator', async () => {
      const own = '#!/bin/sh\n# mine\nexit 101\n';
      await writeFile(policy, own, { mode: 0o755 });
      await installPackages(['slapd'], record, policy);
      expect(await readFile(policy, 'utf8')).toBe(own);
    });
  });
});
