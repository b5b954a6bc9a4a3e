import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The version of npm that a Node release contains. The packages of Node in the registry have no npm. */
const bundledNpm = { 24: 11 };

/**
 * The Node version whose headers native packages are compiled with. Compiled with the headers of Node 24.19 or later,
 * better-sqlite3 12 aborts the process, because ObjectWrap needs an environment in its destructor
 * (docs/operations/kubernetes.md).
 */
const headersOf = { 24: '24.18.1' };

/** Returns the reason why the base image cannot be made on this machine, or undefined when it can. */
export function missingForDebianRoot() {
  const release = '/etc/os-release';
  if (!existsSync(release) || !/^ID=debian$/m.test(readFileSync(release, 'utf8'))) return 'this is no Debian';
  if (process.getuid() !== 0) return 'this is not root';
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0)
    return 'no namespaces are allowed here';
  return undefined;
}

/** Makes an empty Debian like the base image, with the Node version of the image's name in /usr/local. */
export function makeDebianRoot(root, { node, debian }) {
  if (spawnSync('debootstrap', ['--version']).status !== 0) {
    run('apt-get', ['install', '-y', '--no-install-recommends', 'debootstrap'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  const [archive] =
    run('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages']).match(/^\S*debian$/m) ?? [];
  run('debootstrap', ['--variant=minbase', debian, root, ...(archive === undefined ? [] : [archive])]);
  copyFileSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  installNode(root, node);
}

function installNode(root, major) {
  const local = join(root, 'usr/local');
  unpack(`node-linux-${process.arch}@${major}`, root, (folder) => {
    copyFileSync(join(folder, 'bin/node'), join(local, 'bin/node'));
  });
  unpack(`node-linux-${process.arch}@${headersOf[major] ?? major}`, root, (folder) => {
    cpSync(join(folder, 'include/node'), join(local, 'include/node'), { recursive: true });
  });
  if (bundledNpm[major] === undefined) throw new Error(`which npm comes with Node ${major}?`);
  unpack(`npm@${bundledNpm[major]}`, root, (folder) => {
    cpSync(folder, join(local, 'lib/node_modules/npm'), { recursive: true });
    for (const name of ['npm', 'npx']) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
    }
  });
}

/** Unpacks the newest release of a package, calls `use` with its folder, and deletes the folder. */
function unpack(name, root, use) {
  const folder = join(root, 'var/tmp/package');
  mkdirSync(folder);
  try {
    run('npm', ['pack', '--silent', '--pack-destination', folder, name]);
    run('tar', ['-xzf', join(folder, readdirSync(folder)[0]), '-C', folder]);
    use(join(folder, 'package'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26, ...options });
  if (status !== 0) throw new Error(`${command} ended with ${status}\n${stdout?.slice(-2000)}${stderr?.slice(-2000)}`);
  return stdout;
}
