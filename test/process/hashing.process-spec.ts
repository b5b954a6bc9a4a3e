import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { post } from '../support/post';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, testSettings } from '../support/settings';

const ENGINE = resolve(__dirname, '../../dist/src/hashing/engine/bcrypt-engine.js');

/** Compares a right and a wrong password as a pair, and says whether that process has WebAssembly. */
const COMPARE = `
  const { openEngine } = require(${JSON.stringify(ENGINE)});
  (async () => {
    const engine = openEngine('native');
    const hash = await engine.hash('right', 4);
    const verdicts = await engine.verifyPair({ password: 'right', hash }, { password: 'wrong', hash });
    console.log(JSON.stringify({ verdicts, hasWebAssembly: 'WebAssembly' in globalThis }));
    await engine.close();
  })();
`;

const onLinux = process.platform === 'linux' ? it : it.skip;

describe('hashing threads', () => {
  onLinux('work when the system forbids them to set their priority', async () => {
    // Without CAP_SYS_NICE a thread with nice value 15 may not set 10: setpriority(2) returns EACCES.
    const nice = ['nice', '-n', '15', process.execPath, '-e', COMPARE];
    const command = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_nice', ...nice] : nice;
    const { stdout } = await promisify(execFile)(command[0]!, command.slice(1));
    expect(JSON.parse(stdout)).toMatchObject({ verdicts: [true, false] });
  });
});

/** Makes `os` report a machine with 64 cores. */
const MANY_CORES = "require('node:os').availableParallelism = () => 64;";

describe('HASH_THREADS on a machine of 64 cores', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cores-'));
    await writeFile(join(directory, 'many-cores.cjs'), MANY_CORES);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** Returns the number of hash threads, and the peak memory of the process in three bursts of 192 logins. */
  async function burst(settings: Record<string, string>): Promise<{ threads: number; peakMiB: number }> {
    const metricsPort = await freePort();
    const service = await ServiceProcess.start({
      env: {
        ...testSettings,
        LOG_LEVEL: 'warn',
        METRICS_PORT: `${metricsPort}`,
        NODE_OPTIONS: `--require ${join(directory, 'many-cores.cjs')}`,
        HASH_QUEUE_MAX_WAIT_MS: '600000',
        ...settings,
      },
    });
    try {
      const guess = { username: 'nobody', password: 'x', captcha_token: captchaToken };
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 192 }, () => post(service, '/login', guess)));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
      }
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
      return {
        threads: Number(/^auth_hash_concurrency (\d+)$/m.exec(metrics)?.[1]),
        peakMiB: Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024,
      };
    } finally {
      await service.kill();
    }
  }

  onLinux('is 8, and a burst of logins stays far below the memory limit of the container', async () => {
    const unbounded = await burst({ HASH_THREADS: '64' });
    const bounded = await burst({});
    expect([unbounded.threads, bounded.threads]).toEqual([64, 8]);
    // Measured: 226 MiB with 8 threads and 654 MiB with 64. The manifests allow 512 MiB.
    expect(bounded.peakMiB).toBeLessThan(400);
    expect(bounded.peakMiB).toBeLessThan(0.7 * unbounded.peakMiB);
  });
});

describe('two password comparisons at once', () => {
  it('are done by the library when Node has no WebAssembly', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--jitless', '-e', COMPARE]);
    expect(JSON.parse(stdout)).toEqual({ verdicts: [true, false], hasWebAssembly: false });
  });

  onLinux('are done by the library when WebAssembly cannot allocate its memory', async () => {
    // Eight gigabytes of address space are enough for Node, but not for a WebAssembly memory and its guard pages.
    const limited = 'ulimit -v 8000000; exec "$0" -e "$1"';
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, COMPARE]);
    expect(JSON.parse(stdout)).toEqual({ verdicts: [true, false], hasWebAssembly: true });
  });
});
