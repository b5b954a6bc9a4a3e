import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../support/run-program';
import { testSettings } from '../support/settings';

/** The commands as an operator and an auditor use them. test/db/audit-export and src/cli/audit have the details. */
describe('audit export and audit verify', () => {
  let directory: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'audit-export-'));
    env = { ...testSettings, DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}` };
    const { stdout } = await run(['audit', 'keygen'], {});
    env.AUDIT_PRIVATE_KEY = stdout.trim().slice('AUDIT_PRIVATE_KEY='.length);
    const published = await run(['audit', 'public-key']);
    expect(published).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----/),
    });
    await writeFile(file('public.pem'), published.stdout);
    await writeFile(file('private.pem'), env.AUDIT_PRIVATE_KEY.replaceAll('\\n', '\n'));
    expect(await run(['tenant', 'create', 'acme', 'Acme'])).toMatchObject({ code: 0 });
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const file = (name: string) => join(directory, name);
  const run = (args: string[], settings: Record<string, string> = env, input?: string) =>
    runProgram('dist/src/cli.js', args, { env: settings, cwd: directory, ...(input !== undefined && { input }) });

  it('an export, its continuation from two lines on standard input, and their check without settings', async () => {
    expect(await run(['audit', 'export', '--sign', '--out', 'a.jsonl'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await stat(file('a.jsonl'))).mode & 0o777).toBe(0o600);
    const ends = (await readFile(file('a.jsonl'), 'utf8')).trimEnd().split('\n').slice(-2).join('\n');
    const next = await run(['audit', 'export', '--sign', '--after', '-'], env, ends);
    expect(next).toMatchObject({ code: 0, stderr: '' });
    await writeFile(file('b.jsonl'), next.stdout);
    const checked = await run(['audit', 'verify', 'a.jsonl', 'b.jsonl', '--key', 'public.pem', '--json'], {});
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(checked.stdout)).toMatchObject({
      intact: true,
      problems: [],
      files: [{ log: 'audit_logs' }, {}],
    });
    expect((await run(['audit', 'verify', 'a.jsonl', '--key', 'public.pem'], {})).stdout).toMatch(/intact\n$/);
  });

  it('a changed export ends with exit code 2, and its line is printed', async () => {
    const whole = await readFile(file('a.jsonl'), 'utf8');
    await writeFile(file('changed.jsonl'), whole.replace('"from":null', '"from":"2026-01-01T00:00:00.000Z"'));
    const { code, stdout, stderr } = await run(['audit', 'verify', 'changed.jsonl', '--key', 'public.pem'], {});
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^not intact: \d+ problems\n$/) });
    expect(stdout).toMatch(/^changed\.jsonl:1: was changed/m);
  });

  it.each([
    ['a file that exists already', ['audit', 'export', '--out', 'a.jsonl'], /the file exists/],
    ['a log that does not exist', ['audit', 'export', '--log', 'mails'], /--log must be one of audit, login/],
    ['a time that is none', ['audit', 'export', '--from', 'yesterday'], /--from must be a time/],
    [
      '--after with --from',
      ['audit', 'export', '--after', 'a.jsonl', '--from', '2026-01-01T00:00:00Z'],
      /leave --from out/,
    ],
    ['no key', ['audit', 'verify', 'a.jsonl'], /--key, or --unsigned/],
    ['a private key', ['audit', 'verify', 'a.jsonl', '--key', 'private.pem'], /is not a public key/],
    ['a file that is missing', ['audit', 'verify', 'missing.jsonl', '--unsigned'], /ENOENT/],
  ])('%s is refused with one line', async (_what, args, told) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^\S[^\n]*\n$/);
    expect(stderr).toMatch(told);
  });

  it('--sign without a key is refused, and leaves no file', async () => {
    const { code, stderr } = await run(['audit', 'export', '--sign', '--out', 'c.jsonl'], {
      ...env,
      AUDIT_PRIVATE_KEY: '',
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('AUDIT_PRIVATE_KEY is not set') });
    await expect(stat(file('c.jsonl'))).rejects.toThrow('ENOENT');
  });
});
