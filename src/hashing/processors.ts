import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { posix } from 'node:path';

/** Reads a file of the kernel; undefined if it does not exist. Tests pass a function that describes a container. */
type ReadText = (path: string) => string | undefined;

const root = '/sys/fs/cgroup';

/**
 * The number of processors that this process may use: those that the system offers, limited by the quota of the
 * container, which Node 20 ignores. A fraction is rounded down and left to the event loop, because the kernel stops all
 * threads when the quota is used up.
 */
export function processors(read: ReadText = readKernel, offered = availableParallelism()): number {
  return Math.max(1, Math.floor(Math.min(offered, ...quotas(read))));
}

/**
 * The default of `HASH_THREADS`: one thread for each processor, and at most eight, because each thread takes memory
 * (ADR 0004).
 */
export function defaultHashThreads(read: ReadText = readKernel, offered = availableParallelism()): number {
  return Math.min(8, processors(read, offered));
}

/**
 * The quotas of the control group of the process and of those above it, in processors. cgroup v2 has one file, v1 two.
 */
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

/**
 * Returns the path and all paths above it. In a container the path may be that of the host, which is not mounted. Then
 * only the root of the mount has files.
 */
function upwards(path: string): string[] {
  const paths = [posix.resolve('/', path)];
  while (paths.at(-1) !== '/') paths.push(posix.dirname(paths.at(-1) as string));
  return paths;
}

/** `max`, `-1` and texts that are not numbers mean no limit. */
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
