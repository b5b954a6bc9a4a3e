import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Isolates one process as a container engine does. The process has its own root directory, which can be read-only. The
 * process is number 1 of its own process table. Its mounts end with it.
 */
const enter = `
set -e
root=$1 cwd=$2 user=$3 mode=$4 writable=$5; shift 5
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
if [ -n "$writable" ]; then mount --bind "$writable" "$root/mnt"; fi
if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root"; fi
exec chroot --userspec="$user" "$root" env -C "$cwd" "$@"
`;

/** The PATH of the image. The PATH of the host would name programs that the image does not have. */
export const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function invocation({ root, cwd = '/', user = '0:0', readOnly = false, writable = '' }, command) {
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
  return [...namespaces, 'sh', '-c', enter, 'sh', root, cwd, user, readOnly ? 'ro' : 'rw', writable, ...command];
}

/** Runs a command to its end. `writable` is a directory of the host that appears as /mnt. */
export function runConfined(place, command, { env = {}, stdio = 'pipe' } = {}) {
  return spawnSync('unshare', invocation(place, command), {
    env: { PATH: path, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', stdio, stdio],
  });
}

/** Starts a command. `pid` returns its process id on the host, for signals like those of a container engine. */
export function startConfined(place, command, { env = {} } = {}) {
  const child = spawn('unshare', invocation(place, command), {
    env: { PATH: path, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return { child, pid: () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()) };
}
