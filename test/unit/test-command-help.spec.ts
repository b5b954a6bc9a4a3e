import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

describe('the test command', () => {
  // `--only` without a name fails at once, so that a command that does not know the option starts no run here.
  it.each(['--help', '-h'])('%s prints the usage and starts nothing', (option) => {
    const command = resolve(__dirname, '../../scripts/test.mjs');
    const { status, stdout } = spawnSync(process.execPath, [command, '--only', option], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^npm test \[-- \[--help\] \[--only <project> \.\.\.\]/);
    expect(stdout).not.toContain('import');
  });
});
