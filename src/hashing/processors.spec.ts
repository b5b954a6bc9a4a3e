import { defaultHashThreads, processors } from './processors';

const container = (files: Record<string, string>) => (path: string) => files[path];

describe('the processors of the container', () => {
  it.each([
    ['no control groups', {}, 64, 64],
    ['cgroup v2 without a quota', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 64, 64],
    ['cgroup v2 with a quota', { '/sys/fs/cgroup/cpu.max': '200000 100000\n' }, 64, 2],
    ['a quota above the number of processors of the machine', { '/sys/fs/cgroup/cpu.max': '800000 100000\n' }, 4, 4],
    [
      'a quota with a fraction, which is left to the event loop',
      { '/sys/fs/cgroup/cpu.max': '375000 100000\n' },
      64,
      3,
    ],
    ['a quota of less than one processor', { '/sys/fs/cgroup/cpu.max': '25000 100000\n' }, 64, 1],
    [
      'cgroup v2 of a service, where the smallest quota of its group and those above it counts',
      {
        '/proc/self/cgroup': '0::/system.slice/auth.service\n',
        '/sys/fs/cgroup/system.slice/auth.service/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/system.slice/cpu.max': '300000 100000\n',
      },
      64,
      3,
    ],
    [
      'cgroup v1 with a quota, seen from inside the container with the path of the host',
      {
        '/proc/self/cgroup': '5:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n0::/docker/ab\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '150000\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '50000\n',
      },
      64,
      3,
    ],
    [
      'cgroup v1 of a service, whose group is not that of another controller',
      {
        '/proc/self/cgroup': '5:memory:/other\n4:cpu,cpuacct:/system.slice/auth.service\n0::/other\n',
        '/sys/fs/cgroup/cpu/system.slice/auth.service/cpu.cfs_quota_us': '200000\n',
        '/sys/fs/cgroup/cpu/system.slice/auth.service/cpu.cfs_period_us': '100000\n',
      },
      64,
      2,
    ],
    [
      'cgroup v1 without a quota',
      { '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' },
      64,
      64,
    ],
    [
      'a path outside of the namespace',
      { '/proc/self/cgroup': '0::/../../other\n', '/sys/fs/cgroup/cpu.max': '500000 100000\n' },
      64,
      5,
    ],
    ['files with unexpected content', { '/proc/self/cgroup': 'x\n', '/sys/fs/cgroup/cpu.max': 'x y z' }, 64, 64],
  ])('are counted right with %s', (_case, files, machine, expected) => {
    expect(processors(container(files), machine)).toBe(expected);
  });

  it.each([
    ['a machine of 64 without a quota', {}, 64, 8],
    ['a quota of 16', { '/sys/fs/cgroup/cpu.max': '1600000 100000\n' }, 64, 8],
    ['a quota of two and a half', { '/sys/fs/cgroup/cpu.max': '250000 100000\n' }, 64, 2],
    ['a quota of a tenth', { '/sys/fs/cgroup/cpu.max': '10000 100000\n' }, 64, 1],
    ['a small machine', {}, 2, 2],
  ])('%s: HASH_THREADS is by default their number, and at most eight', (_case, files, machine, expected) => {
    expect(defaultHashThreads(container(files), machine)).toBe(expected);
  });

  it('are at least one on this machine', () => {
    expect(processors()).toBeGreaterThanOrEqual(1);
  });
});
