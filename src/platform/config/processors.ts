import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { posix } from 'node:path';

/** Reads a file of the kernel; undefined where there is none. Tests describe a container through it. */
export type ReadText = (path: string) => string | undefined;

const root = '/sys/fs/cgroup';

/**
 * Processors that this process may use: those that the system offers it, and no more than its container's quota, which
 * Node 20 does not look at. A fraction is left to the event loop: when a quota is used up, the kernel stops all threads.
 */
export function processors(read: ReadText = readKernel, offered = availableParallelism()): number {
  return Math.max(1, Math.floor(Math.min(offered, ...quotas(read))));
}

/** Of the process's own control group and of all above it, in processors. cgroup v2 has one file, v1 has two. */
function quotas(read: ReadText): number[] {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  const pathOf = (isIt: (id: string, controllers: string[]) => boolean) =>
    groups.find(([id = '', controllers = '']) => isIt(id, controllers.split(',')))?.[2] ?? '/';
  const unified = upwards(pathOf((id) => id === '0')).map((path) => {
    const [quota, period] = (read(posix.join(root, path, 'cpu.max')) ?? 'max').split(' ');
    return ratio(quota, period);
  });
  const legacy = upwards(pathOf((_id, controllers) => controllers.includes('cpu'))).map((path) => {
    const file = (name: string) => read(posix.join(root, 'cpu', path, name));
    return ratio(file('cpu.cfs_quota_us'), file('cpu.cfs_period_us'));
  });
  return [...unified, ...legacy];
}

/** In a container the path may be that of the host, which is not mounted: then only the root of the mount has files. */
function upwards(path: string): string[] {
  const paths = [posix.resolve('/', path)];
  while (paths.at(-1) !== '/') paths.push(posix.dirname(paths.at(-1) as string));
  return paths;
}

/** `max`, `-1` and what is no number mean no limit. */
function ratio(quota: string | undefined, period: string | undefined): number {
  const processors = Number(quota) / Number(period);
  return processors > 0 ? processors : Infinity;
}

function readKernel(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
