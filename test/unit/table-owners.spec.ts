import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .sort();

/** The module that owns each table. Only its code reads and writes the table. */
const owners: Record<string, string> = {
  application_logouts: 'applications',
  application_sessions: 'applications',
  applications: 'applications',
  audit_logs: 'audit',
  brand_images: 'brand',
  brands: 'brand',
  captcha_receipts: 'captcha',
  cooldowns: 'platform',
  event_outbox: 'events',
  event_receivers: 'events',
  event_streams: 'events',
  external_identities: 'identity-providers',
  external_sessions: 'identity-providers',
  external_sign_ins: 'identity-providers',
  identity_providers: 'identity-providers',
  known_browsers: 'sessions',
  login_logs: 'audit',
  login_tokens: 'sessions',
  mail_outbox: 'mail',
  offboardings: 'offboarding',
  oidc_records: 'applications',
  org_units: 'users',
  passkey_challenges: 'passkeys',
  passkeys: 'passkeys',
  password_expiry_warnings: 'password-reset',
  pending_logins: 'sessions',
  receiver_events: 'events',
  receiver_places: 'events',
  recovery_codes: 'mfa',
  revocation_runs: 'admin',
  service_clients: 'introspection',
  shortened_addresses: 'retention',
  system_configs: 'platform',
  tenants: 'users',
  totp_secrets: 'mfa',
  trusted_devices: 'sessions',
  user_change_password_request: 'password-reset',
  user_change_pwd_logs: 'users',
  user_group_members: 'groups',
  user_groups: 'groups',
  user_org_units: 'users',
  user_tenants: 'users',
  user_words: 'users',
  used_proofs: 'sessions',
  users: 'users',
};

/** One statement over the tables of two modules, where that is the point. */
const exceptions: Record<string, { tables: string[]; reason: string }> = {
  'applications/persistence/record-lookups.ts': {
    tables: ['users'],
    reason: 'a token of an application and what it depends on is one look-up, at each request',
  },
  'sessions/persistence/shared-statements.ts': {
    tables: ['users', 'user_change_pwd_logs'],
    reason: 'the check of a token and its user is one look-up, at each request',
  },
  ...Object.fromEntries(
    [
      ['admin/http/settings.controller.ts', 'system_configs'],
      ['admin/http/settings.dto.ts', 'system_configs'],
      ['cli/installation/sections/event-receivers.ts', 'event_receivers'],
      ['cli/installation/sections/identity-providers.ts', 'identity_providers'],
      ['cli/installation/sections/org-units.ts', 'org_units'],
    ].map(([file, table]) => [
      file!,
      { tables: [table!], reason: 'the word of the wire or of a file, in no statement' },
    ]),
  ),
};

const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

/** The names of the entity classes, by their tables. */
function entities(): Map<string, string> {
  const found = filesIn('src').map((file) => /@Entity\('(\w+)'\)\s*export class (\w+)/.exec(textOf(`src/${file}`)));
  return new Map(found.flatMap((match) => (match === null ? [] : [[match[1]!, match[2]!]])));
}

const tablesOfMigrations = () =>
  new Set(
    filesIn('migrations')
      .flatMap((file) => [...textOf(`migrations/${file}`).matchAll(/c\.table\(\s*'(\w+)'/g)])
      .map((match) => match[1]!),
  );

/** Whether the code names the table in a statement, gives it to a helper, or injects its repository. */
function uses(text: string, table: string, entity: string | undefined): boolean {
  const named = [
    `\\b(?:FROM|JOIN|UPDATE|INTO)\\s+\`?${table}\\b`,
    `\\btable: '${table}'`,
    // `users`, `tenants` and `passkeys` are also words of paths.
    ...(table.includes('_') ? [`'${table}'`] : []),
    ...(entity === undefined ? [] : [`(?:InjectRepository|getRepository|forFeature)\\([^)]*\\b${entity}\\b`]),
  ];
  return named.some((pattern) => new RegExp(pattern, 'm').test(text));
}

describe('the tables', () => {
  const names = entities();
  const files = filesIn('src').map((file) => ({ file, text: code(textOf(`src/${file}`)) }));

  it('each has one owner', () => {
    expect(Object.keys(owners).sort()).toEqual([...tablesOfMigrations()].sort());
  });

  it('each is read and written by the code of its owner only, apart from the named exceptions', () => {
    const foreign = files.flatMap(({ file, text }) =>
      Object.entries(owners)
        .filter(([table, owner]) => !file.startsWith(`${owner}/`) && uses(text, table, names.get(table)))
        .filter(([table]) => exceptions[file]?.tables.includes(table) !== true)
        .map(([table]) => `${file}: ${table}`),
    );
    expect(foreign).toEqual([]);
  });

  it('docs/architecture.md tells the owners', () => {
    const [, section = ''] = textOf('docs/architecture.md').split('\n### Tables\n');
    const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([\w-]+)` +\| (.*?) +\|$/gm)];
    const told = rows.flatMap(([, owner, tables = '']) =>
      [...tables.matchAll(/`(\w+)`/g)].map(([, table]) => [table, owner] as const),
    );
    expect(Object.fromEntries(told)).toEqual(owners);
  });

  it.each(Object.entries(exceptions))('the exception %s is still one', (file, { tables, reason }) => {
    const { text } = files.find((one) => one.file === file)!;
    expect(tables.filter((table) => uses(text, table, names.get(table)))).toEqual(tables);
    expect(reason).not.toBe('');
  });
});
