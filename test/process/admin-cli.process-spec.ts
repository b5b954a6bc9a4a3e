import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLine } from '../support/command-line';
import { CompanyProvider } from '../support/identity-provider';
import { find, read, renderedJob } from '../support/manifests';
import { Smtp } from '../support/servers/smtp';
import { testSettings } from '../support/settings';

describe('tenants, organisation units, applications and mails on the command line', () => {
  let directory: string;
  let smtp: Smtp;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'admin-cli-'));
    smtp = await Smtp.start();
    expect(await run(['migrate'])).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await smtp.stop();
    await rm(directory, { recursive: true, force: true });
    await commandLine.stop();
  });

  const commandLine = new CommandLine(1);
  const run = (args: string[]) =>
    commandLine.run(args, {
      env: { ...testSettings, DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`, SMTP_URL: smtp.url },
      cwd: directory,
    });
  const json = async (args: string[]) => JSON.parse((await run([...args, '--json'])).stdout) as unknown;

  it('creates, renames and lists', async () => {
    expect(await json(['tenant', 'create', 'acme', 'Acme'])).toEqual({ id: 'acme', name: 'Acme' });
    expect(await json(['tenant', 'rename', 'acme', 'Acme 2'])).toEqual({ id: 'acme', name: 'Acme 2' });
    expect((await run(['tenant', 'list'])).stdout).toBe('acme\tAcme 2\nroot\tRoot\n');
    const sales = { id: 'sales', tenant_id: 'acme', name: 'Sales' };
    expect(await json(['org-unit', 'create', 'sales', 'Sales', '--tenant', 'acme'])).toEqual(sales);
    expect(await json(['org-unit', 'rename', 'sales', 'Sales 2'])).toEqual({ ...sales, name: 'Sales 2' });
    expect(await json(['org-unit', 'list', '--tenant', 'acme'])).toEqual([{ ...sales, name: 'Sales 2' }]);
    expect(await json(['org-unit', 'list', '--tenant', 'root'])).toEqual([]);
    expect(await json(['mail', 'list', '--status', 'dead'])).toEqual([]);
  });

  it('applies a file, exports it, and tells a pipeline by the exit code what was found', async () => {
    const file = join(directory, 'installation.yaml');
    const text = 'version: 1\ntenants:\n  - id: of-file\n    name: Of a file\n';
    await writeFile(file, text);
    const apply = (...more: string[]) => run(['--actor', 'pipeline', 'config', 'apply', file, ...more]);
    expect(await apply('--dry-run', '--detailed-exit-code')).toEqual({
      code: 2,
      stdout:
        'create tenants of-file\n  id: "of-file"\n  name: "Of a file"\n1 change; nothing was written, because of --dry-run\n',
      stderr: '',
    });
    const { stdout } = await apply('--json');
    expect(JSON.parse(stdout)).toMatchObject({ dry_run: false, changes: [{ section: 'tenants', action: 'create' }] });
    expect(await apply('--detailed-exit-code')).toEqual({ code: 0, stdout: 'no changes\n', stderr: '' });
    const exported = await run(['config', 'export']);
    expect(exported.stdout).toContain('  - id: of-file\n    name: Of a file\n');
    await writeFile(file, exported.stdout);
    expect(await apply()).toMatchObject({ code: 0, stdout: 'no changes\n' });
    await writeFile(file, `${text}    colour: red\n`);
    expect(await apply()).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: `${file}:5:13: tenants[0].colour is not known: give id, name\nthe file has a fault: nothing was changed\n`,
    });
    expect(JSON.parse((await apply('--dry-run', '--json')).stdout)).toEqual({
      faults: [{ path: 'tenants[0].colour', line: 5, column: 13, problem: 'is not known: give id, name' }],
    });
  });

  it('the example of deploy/kustomize/jobs/config-apply is checked with the arguments of its Job and the keys of its Secret', async () => {
    const { args } = find(renderedJob('config-apply'), 'Job').spec.template.spec.containers[0] as { args: string[] };
    const example = read('deploy/kustomize/jobs/config-apply/installation.yaml');
    const path = join(directory, 'of-job.yaml');
    await writeFile(path, example.replaceAll('file:/run/installation-secrets', `file:${directory}`));
    const local = args.map((arg) => (arg === '/run/input/installation.yaml' ? path : arg));
    expect((await run(local)).stderr).toContain('GRAFANA_SECRET');
    await writeFile(join(directory, 'GRAFANA_SECRET'), 'g'.repeat(64));
    const { code, stdout, stderr } = await run(local);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/create applications 7c6f1d5e-[^]*nothing was written, because of --dry-run\n$/);
    expect(stdout).not.toContain('gggg');
  });

  it('adds an identity provider, tests it with its secret, and removes it when no user is left', async () => {
    const secret = 'the-secret-of-the-company';
    const company = await CompanyProvider.start([{ clientId: 'portal', secret, redirectUris: ['https://x.test'] }]);
    try {
      const [right, wrong] = [join(directory, 'right'), join(directory, 'wrong')];
      await writeFile(right, `${secret}\n`);
      await writeFile(wrong, 'another-secret');
      const fields = [
        '--name',
        'Entra',
        '--issuer',
        company.issuer,
        '--client-id',
        'portal',
        '--domain',
        'example.com',
      ];
      const added = await json(['idp', 'add', 'entra', ...fields, '--client-secret-file', wrong]);
      const addresses = {
        redirect_uri: 'http://portal.test/login/external/entra/callback',
        backchannel_logout_uri: 'http://portal.test/login/external/entra/backchannel-logout',
      };
      expect(added).toMatchObject({ id: 'entra', has_client_secret: true, domains: ['example.com'], ...addresses });
      const refused = await run(['idp', 'test', 'entra']);
      expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('secret: wrong')]);
      const end = new Date(Date.now() + 5 * 86_400_000).toISOString();
      await json(['idp', 'change', 'entra', '--client-secret-file', right, '--client-secret-expires', end]);
      expect(await json(['idp', 'test', 'entra'])).toEqual({
        ...{ id: 'entra', discovery: 'ok', secret: 'ok', tells_logout: true, problems: [], ...addresses },
      });
      expect((await run(['doctor'])).stdout).toMatch(
        /^idp +warn +entra the secret ends on \d{4}-\d\d-\d\d, in \d days$/m,
      );
      const moved = ['--provider', 'oidc', '--identity-provider', 'entra'];
      expect(await json(['user', 'create', '--login-name', 'ann', ...moved])).toMatchObject({
        identity_provider: 'entra',
      });
      expect((await run(['idp', 'remove', 'entra'])).code).toBe(1);
      expect(await json(['user', 'set-provider', 'ann', 'password'])).toMatchObject({
        ...{ provider: 'password', identity_provider: null, invited: false },
      });
      expect(await json(['idp', 'disable', 'entra'])).toMatchObject({ enabled: false, bound_users: 0 });
      expect(await json(['idp', 'remove', 'entra'])).toEqual({ id: 'entra', result: true });
      expect(await json(['idp', 'list'])).toEqual([]);
    } finally {
      await company.stop();
    }
  });

  it('registers an application, changes it, rotates its secret and deletes it', async () => {
    const uri = 'https://grafana.example.com/login';
    const created = (await json([
      ...['app', 'create', 'Grafana', '--type', 'web', '--redirect-uri', uri, `${uri}/2`, '--first-party'],
      ...['--scope', 'openid', 'email', '--allowed-tenant', 'root', '--uri', 'https://grafana.example.com'],
    ])) as Record<string, string>;
    const { id = '', client_secret: secret, ...fields } = created;
    expect(fields).toMatchObject({
      ...{ name: 'Grafana', type: 'web', redirect_uris: [uri, `${uri}/2`], scopes: ['openid', 'email'] },
      ...{ first_party: true, allowed_tenants: ['root'], enabled: true, uri: 'https://grafana.example.com' },
    });
    expect((await run(['app', 'list'])).stdout).toBe(`${id}\tweb\ttrue\tGrafana\n`);
    const changed = await json([
      ...['app', 'change', id, '--name', 'Graphs', '--redirect-uri', uri, '--allowed-tenant', '', '--uri', ''],
      '--no-first-party',
    ]);
    const now = { ...fields, name: 'Graphs', redirect_uris: [uri], allowed_tenants: [], uri: null, first_party: false };
    expect(changed).toEqual({ ...now, id, changed_at: expect.any(String) });
    const rotated = (await json(['app', 'rotate-secret', id, '--keep-old-seconds', '60'])) as Record<string, string>;
    expect(rotated.client_secret).not.toBe(secret);
    expect(rotated.old_secret_expires_at).not.toBeNull();
    expect(await json(['app', 'disable', id])).toMatchObject({ enabled: false });
    expect(await json(['app', 'enable', id])).toMatchObject({ enabled: true });
    expect(await json(['app', 'show', id])).toMatchObject({
      ...now,
      changed_at: expect.any(String),
      old_secret_expires_at: expect.any(String),
    });
    expect(await json(['app', 'delete', id])).toEqual({ id, result: true });
    expect(await json(['app', 'list'])).toEqual([]);
  });

  it('makes a group, fills it, shows it and deletes it; the members stay users', async () => {
    const { id } = (await json(['group', 'create', 'Field Sales'])) as { id: string };
    const { uid } = (await json(['user', 'create', '--login-name', 'gina'])) as { uid: string };
    expect(await json(['group', 'add-member', id, uid])).toEqual({ id, uid, changed: true });
    expect(await json(['group', 'rename', id, 'Sales'])).toMatchObject({ id, name: 'Sales', source: 'admin' });
    expect((await run(['group', 'list', '--query', 'sal'])).stdout).toBe(`${id}\troot\tadmin\tSales\n`);
    expect((await run(['group', 'members', id])).stdout).toContain('gina');
    expect(await json(['group', 'remove-member', id, uid])).toEqual({ id, uid, changed: true });
    expect(await json(['group', 'delete', id])).toEqual({ id, result: true });
    expect(await run(['group', 'members', id])).toMatchObject({ code: 1, stdout: '' });
  });

  it('a promotion prints how many passkeys the account has, because they sign in as an administrator from now on', async () => {
    await json(['user', 'create', '--login-name', 'pia', '--email', 'pia@example.com']);
    expect(await json(['user', 'set-admin', 'pia', 'on'])).toMatchObject({ is_admin: true, passkeys: 0 });
  });

  it('sends a test mail, and says in one line what the server said', async () => {
    expect(await json(['mail', 'test', 'person@example.com'])).toEqual({ result: true });
    expect(smtp.messages).toMatchObject([{ to: ['person@example.com'] }]);
    smtp.refuse(550, 'recipient');
    expect(await run(['mail', 'test', 'person@example.com'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'the test mail was not sent: RCPT TO: 550 Mailbox unavailable\n',
    });
  });

  it.each([
    [
      ['--accept', 'sesions'],
      '--accept must be one of database, schema, replicas, settings, migrations, sessions, space',
    ],
    [['--accept', 'sessions', '--accept', ''], '--accept must be one of database'],
    [['--replica', 'nonsense'], '--replica must be a URL'],
    [['--acept', 'sessions'], "unknown option '--acept'"],
    [['sessions'], 'too many arguments'],
  ])('upgrade --check %j ends with 2, because 1 would say that the upgrade has to wait', async (args, problem) => {
    const { code, stdout, stderr } = await run(['upgrade', '--check', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(problem);
  });

  it.each([
    [['tenant', 'create', 'acme', 'Again'], 'there is already a tenant acme'],
    [['tenant', 'create', 'a b', 'x'], 'the id must have 1 to 64'],
    [['tenant', 'rename', 'nowhere', 'x'], 'there is no tenant "nowhere"'],
    [['org-unit', 'create', 'one', 'x', '--tenant', 'nowhere'], 'there is no tenant "nowhere"'],
    // A misspelt tenant must not look like one without rows.
    ...['nowhere', ''].flatMap((tenant): [string[], string][] =>
      ['user', 'org-unit', 'group'].map((what) => [
        [what, 'list', '--tenant', tenant],
        `there is no tenant ${JSON.stringify(tenant)}`,
      ]),
    ),
    [['user', 'list', '--json', '--tenant', 'nowhere'], 'there is no tenant "nowhere"'],
    [
      ['audit', 'export', '--from', '2026-03-02T10:00:00Z', '--to', '2026-03-02T10:00:00Z'],
      '--to must be later than --from',
    ],
    [['mail', 'retry', 'x'], 'there is no mail "x" that was given up'],
    [['mail', 'list', '--status', 'lost'], '--status must be one of waiting, sent'],
    [['mail', 'test', 'nobody'], 'the address must be one plain'],
    [['app', 'create', 'x', '--type', 'other'], '--type must be one of web, spa'],
    [['app', 'create', 'x', '--type', 'spa', '--redirect-uri', 'http://x.example'], 'redirect_uris[0] must be https'],
    [['app', 'show', 'x'], 'there is no application "x"'],
    [['app', 'change', 'x'], 'name at least one field'],
    [['app', 'rotate-secret', 'x', '--keep-old-seconds', '1.5'], '--keep-old-seconds must be a whole number'],
  ])('%j is refused in one line', async (args, problem) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(problem);
  });
});
