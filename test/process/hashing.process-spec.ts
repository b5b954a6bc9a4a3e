import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const ENGINE = resolve(__dirname, '../../dist/src/users/hashing/open-engine.js');

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
  onLinux('work where the system forbids them to set their priority', async () => {
    // A thread at 15 may not go to 10 without CAP_SYS_NICE: setpriority(2) is EACCES.
    const nice = ['nice', '-n', '15', process.execPath, '-e', COMPARE];
    const command = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_nice', ...nice] : nice;
    const { stdout } = await promisify(execFile)(command[0]!, command.slice(1));
    expect(JSON.parse(stdout)).toMatchObject({ verdicts: [true, false] });
  });
});

describe('two passwords at once', () => {
  it('are compared by the library where Node has no WebAssembly', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--jitless', '-e', COMPARE]);
    expect(JSON.parse(stdout)).toEqual({ verdicts: [true, false], hasWebAssembly: false });
  });

  onLinux('are compared by the library where WebAssembly finds no room for its memory', async () => {
    // Eight gigabytes of addresses: enough for Node, not for the memory and its guard pages.
    const limited = 'ulimit -v 8000000; exec "$0" -e "$1"';
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, COMPARE]);
    expect(JSON.parse(stdout)).toEqual({ verdicts: [true, false], hasWebAssembly: true });
  });
});
