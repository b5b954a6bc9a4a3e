import { processors } from './processors';

const container = (files: Record<string, string>) => (path: string) => files[path];

describe('the processors of the container', () => {
  it.each([
    ['no control groups', {}, 64, 64],
    ['cgroup v2 without a quota', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 64, 64],
    ['cgroup v2 with a quota', { '/sys/fs/cgroup/cpu.max': '200000 100000\n' }, 64, 2],
    ['a quota above what the machine has', { '/sys/fs/cgroup/cpu.max': '800000 100000\n' }, 4, 4],
    ['a fraction is left to the event loop', { '/sys/fs/cgroup/cpu.max': '375000 100000\n' }, 64, 3],
    ['less than one processor', { '/sys/fs/cgroup/cpu.max': '25000 100000\n' }, 64, 1],
    [
      'cgroup v2 of a service: the smallest of its group and those above it',
      {
        '/proc/self/cgroup': '0::/system.slice/auth.service\n',
        '/sys/fs/cgroup/system.slice/auth.service/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/system.slice/cpu.max': '300000 100000\n',
      },
      64,
      3,
    ],
    [
      'cgroup v1 with a quota, seen from inside under the path of the host',
      {
        '/proc/self/cgroup': '5:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n0::/docker/ab\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '150000\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '50000\n',
      },
      64,
      3,
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
    ['files with something else in them', { '/proc/self/cgroup': 'x\n', '/sys/fs/cgroup/cpu.max': 'x y z' }, 64, 64],
  ])('%s', (_case, files, machine, expected) => {
    expect(processors(container(files), machine)).toBe(expected);
  });

  it('of this machine are at least one', () => {
    expect(processors()).toBeGreaterThanOrEqual(1);
  });
});
