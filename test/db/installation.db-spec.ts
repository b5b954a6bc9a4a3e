import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Test, type TestingModule } from '@nestjs/testing';
import { parse, stringify } from 'yaml';
import { operatorAuthority as by } from '../../src/admin/authority';
import { ApplicationAdministration } from '../../src/admin/application-administration';
import { Configuration } from '../../src/admin/configuration';
import { GroupAdministration } from '../../src/admin/group-administration';
import { IdentityProviderAdministration } from '../../src/admin/identity-provider-administration';
import { ProviderVerification } from '../../src/admin/provider-verification';
import { Tenants } from '../../src/admin/tenants';
import { CliModule } from '../../src/cli/cli.module';
import { censusOfAll } from '../../src/cli/sealed-values';
import { Installation, StepFailed, WrongFile } from '../../src/cli/installation/installation';
import { SecretReferences } from '../../src/cli/installation/secret-references';
import { sectionsOf } from '../../src/cli/installation/sections/all-sections';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { AppConfig } from '../../src/settings/app-config';
import { SystemRandom } from '../../src/shared/random';
import { TestService } from '../support/app';
import { settings } from '../support/captcha/harness';
import { dataKey } from '../support/settings';

const example = readFileSync(resolve(__dirname, '../../docs/operations/installation.example.yaml'), 'utf8');
const grafana = '7c6f1d5e-3f0b-4b57-9d0a-2a4f3c1e8b90';
const environment: Record<string, string> = {
  PORTAL_MAIL_PASSWORD: 'the-password-of-the-mail-server',
  ENTRA_SECRET: 'the-secret-of-the-provider',
  GRAFANA_SECRET: 'b'.repeat(64),
  SIEM_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  JWT_SECRET: 'the-key-that-signs-every-token',
};

interface Draft {
  version?: number;
  settings?: Record<string, Record<string, unknown>>;
  identity_providers: Record<string, unknown>[];
  applications: Record<string, unknown>[];
}

/** The use cases are those of administrators, each with its own race test. Here is what the file adds. */
describe('the installation as a file', () => {
  let service: TestService;
  let context: TestingModule;
  let installation: Installation;

  beforeAll(async () => {
    service = await TestService.start({ ADMIN_API: 'on' });
    const config = service.app.get(AppConfig);
    context = await Test.createTestingModule({ imports: [CliModule.with(config)] }).compile();
    await context.init();
    jest.spyOn(context.get(ProviderVerification, { strict: false }), 'assertUsable').mockResolvedValue();
    installation = newInstallation();
  });
  afterAll(async () => {
    await context.close();
    await service.stop();
  });

  const newInstallation = (more: Record<string, string> = {}) => {
    const { names } = service.app.get(AppConfig).effective;
    const own = { isSetting: (name: string) => names.has(name), dataDir: service.dataDir };
    return new Installation(
      sectionsOf(context),
      new SecretReferences({ ...environment, ...more }, join(service.dataDir, 'x.yaml'), own),
    );
  };
  const edited = (edit: (draft: Draft) => void, text = example): string => {
    const draft = parse(text) as Draft;
    edit(draft);
    return stringify(draft);
  };
  const faultsOf = async (text: string, of = installation): Promise<string[]> => {
    const error: unknown = await of.plan(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WrongFile);
    return (error as WrongFile).faults.map(({ line, path, problem }) => `${line}: ${path} ${problem}`);
  };
  const idsOf = (steps: readonly { section: string; id: string }[]) =>
    steps.map(({ section, id }) => `${section} ${id}`);
  const audited = () => service.count('audit_logs', '1 = 1', []);

  it('the example of the documentation is checked first, applied, and applied again without a change', async () => {
    const planned = idsOf(await installation.plan(example));
    expect(planned).toHaveLength(15);
    expect([await audited(), await service.count('tenants', 'id = ?', ['acme'])]).toEqual([0, 0]);
    expect(idsOf(await installation.apply(example))).toEqual(planned);
    expect(await audited()).toBe(15);
    expect(await installation.plan(example)).toEqual([]);
    expect(await installation.apply(example)).toEqual([]);
    expect(await audited()).toBe(15);
    expect(
      await context.get(Configuration).has({ group: 'SMTP', key: 'SECRET' }, environment.PORTAL_MAIL_PASSWORD!),
    ).toBe(true);
    const { application } = { application: await context.get(ApplicationAdministration).get(grafana) };
    expect(application).toMatchObject({ allowedTenants: ['acme'], scopes: ['openid', 'profile', 'email', 'groups'] });
  });

  it('T650: an export has no secret, says so, and applies without a change, as YAML and as JSON', async () => {
    const members = await installation.exported();
    const yaml = stringify(members, { aliasDuplicateObjects: false });
    for (const secret of Object.values(environment)) expect(yaml).not.toContain(secret);
    expect(yaml.match(/\(not exported\)/g)).toHaveLength(3);
    expect(yaml).not.toMatch(/hash|created_at|bound_users/i);
    expect(await installation.plan(yaml)).toEqual([]);
    expect(await installation.plan(JSON.stringify(members))).toEqual([]);
    expect(members).toMatchObject({
      groups: [{ tenant_id: 'acme', name: 'Dashboards' }],
      applications: [{ id: grafana, allowed_groups: ['acme/Dashboards'] }],
    });
  });

  it('an export of one installation needs the secrets of another one, and names each', async () => {
    const yaml = edited(
      (draft) => {
        draft.applications[0]!.id = '00000000-0000-4000-8000-000000000001';
        draft.identity_providers[0]!.id = 'new';
        draft.identity_providers[0]!.domains = [];
      },
      stringify(await installation.exported()),
    );
    expect((await faultsOf(yaml)).map((fault) => fault.replace(/^\d+: /, ''))).toEqual([
      'identity_providers[0].client_secret is not in the file: give a reference such as ${ENV:NAME} or file:PATH, or null',
      'applications[0].client_secret is required: give a reference such as ${ENV:NAME} or file:PATH',
    ]);
  });

  it('T755 an application with the uid of a user is a fault of the file', async () => {
    const uid = '00000000-0000-4000-8000-000000000755';
    await service.givenUser('subject', { uid });
    const yaml = edited((draft) => (draft.applications[0]!.id = uid));
    expect(await faultsOf(yaml)).toEqual([
      expect.stringContaining('applications[0].id is the id of a user: take another one'),
    ]);
  });

  it('names the line and the path of every fault, and writes nothing', async () => {
    const before = await audited();
    const text = [
      'version: 1',
      'tenant: []',
      'tenants:',
      '  - id: new-one',
      '    nmae: New',
      'org_units:',
      '  - { id: u, tenant_id: nowhere, name: U }',
      'settings:',
      '  SMTP: { HOTS: mail.example.com }',
      'applications:',
      `  - id: ${grafana}`,
      '    name: Grafana',
      '    type: web',
      '    redirect_uris:',
      '      - https://grafana.example.com/a#b',
      '    allowed_groups: [acme/Nobody]',
    ].join('\n');
    expect(await faultsOf(text)).toEqual([
      '2: tenant is not known: give version, tenants, org_units, groups, settings, brand, identity_providers, applications, event_receivers',
      '4: tenants[0].name is required',
      '5: tenants[0].nmae is not known: give id, name',
      '7: org_units[0].tenant_id is not the id of a tenant',
      '9: settings.SMTP.HOTS is not known: give HOST, PORT, SENDER, USER, TLS, SECRET',
      expect.stringMatching(/^15: applications\[0\]\.redirect_uris\[0\] /),
      '16: applications[0].allowed_groups[0] is no group: give its tenant and name, as in acme/Sales',
    ]);
    await expect(installation.apply(text)).rejects.toThrow(WrongFile);
    expect(await audited()).toBe(before);
  });

  it('T652: a secret that stands in the file itself is refused, and the fault does not repeat it', async () => {
    const clear = 'Clear-Secret-0123456789';
    const text = edited((draft) => {
      draft.settings!.SMTP!.SECRET = clear;
      draft.applications[0]!.client_secret = clear;
      draft.identity_providers[0]!.client_secret = clear;
    });
    const faults = await faultsOf(text);
    expect(faults).toHaveLength(3);
    expect(faults.join()).toContain('must be a reference');
    expect(faults.join()).not.toContain(clear);
  });

  it('T653: a reference to a secret of this service, in its environment or its files, is refused', async () => {
    const [own, link, kept] = ['own-key', 'link', 'secrets/signing'].map((name) => join(service.dataDir, name));
    mkdirSync(join(service.dataDir, 'secrets'), { recursive: true });
    for (const file of [own!, kept!]) writeFileSync(file, environment.JWT_SECRET!);
    symlinkSync(kept!, link!);
    const named = newInstallation({ JWT_SECRET_FILE: own! });
    for (const reference of [
      '${ENV:JWT_SECRET}',
      '${ENV:JWT_SECRET_FILE}',
      `file:${own}`,
      'file:link',
      'file:/proc/self/environ',
    ]) {
      const text = edited((draft) => (draft.identity_providers[0]!.client_secret = reference));
      const faults = await faultsOf(text, named);
      expect(faults.join()).toMatch(/of this service: choose another/);
      expect(faults.join()).not.toContain(environment.JWT_SECRET);
    }
  });

  it('T654: a stored secret never follows a changed host or issuer that does not bring its own', async () => {
    const mail = { version: 1, settings: { SMTP: { HOST: 'mail.attacker.example', TLS: 'none' } } };
    expect((await faultsOf(stringify(mail))).join()).toMatch(
      /SMTP\.HOST changes where the password.*SMTP\.TLS changes where/,
    );
    const text = edited((draft) => {
      draft.identity_providers[0]!.issuer = 'https://attacker.example';
      draft.identity_providers[0]!.client_secret = '(not exported)';
    });
    expect((await faultsOf(text)).join()).toMatch(/issuer cannot change without client_secret/);
  });

  it('T654: between two steps of an apply, no changed mail server gets the former password', async () => {
    const configuration = context.get(Configuration);
    const former = environment.PORTAL_MAIL_PASSWORD!;
    const smtp = (settings: Record<string, unknown>) => stringify({ version: 1, settings: { SMTP: settings } });
    const host = async () => (await configuration.list()).find(({ key }) => key === 'HOST')?.value;
    const [set, unset] = [configuration.set.bind(configuration), configuration.unset.bind(configuration)];
    const seen: unknown[] = [];
    const look = async () =>
      seen.push([await host(), await configuration.has({ group: 'SMTP', key: 'SECRET' }, former)]);
    const spies = [
      jest.spyOn(configuration, 'set').mockImplementation(async (...given) => {
        const done = await set(...given);
        await look();
        return done;
      }),
      jest.spyOn(configuration, 'unset').mockImplementation(async (...given) => {
        const done = await unset(...given);
        await look();
        return done;
      }),
    ];
    try {
      const before = await host();
      await look();
      expect(seen.splice(0)).toEqual([[before, true]]);
      const moved = smtp({ HOST: 'other.example.com', PORT: '2525', SECRET: '${ENV:OTHER_MAIL_PASSWORD}' });
      await newInstallation({ OTHER_MAIL_PASSWORD: 'the-password-of-the-other-server' }).apply(moved);
      expect(seen.length).toBeGreaterThan(2);
      expect(seen.splice(0)).not.toContainEqual(['other.example.com', true]);
      const secret = { group: 'SMTP', key: 'SECRET' };
      expect(await configuration.has(secret, 'the-password-of-the-other-server')).toBe(true);

      await installation.apply(smtp({ HOST: before, PORT: '587', SECRET: '${ENV:PORTAL_MAIL_PASSWORD}' }));
      expect([await host(), await configuration.has(secret, former)]).toEqual([before, true]);
      seen.length = 0;
      await installation.apply(smtp({ HOST: 'third.example.com', SECRET: null }));
      expect(seen).not.toContainEqual(['third.example.com', true]);
      await installation.apply(smtp({ HOST: before, SECRET: '${ENV:PORTAL_MAIL_PASSWORD}' }));
      expect([await host(), await configuration.has(secret, former)]).toEqual([before, true]);
    } finally {
      spies.forEach((spy) => spy.mockRestore());
    }
  });

  it('receivers of events are made, changed and exported, and a fault names its place', async () => {
    const file = (receiver: object) => stringify({ version: 1, event_receivers: [{ id: 'siem', ...receiver }] });
    const given = { url: 'https://siem.example.com/events', types: ['user.*'], secret: '${ENV:SIEM_SECRET}' };
    expect(idsOf(await installation.apply(file(given)))).toEqual(['event_receivers siem']);
    expect(await installation.plan(file(given))).toEqual([]);
    const exported = (await installation.exported()).event_receivers as Record<string, unknown>[];
    expect(exported).toEqual([
      {
        ...{ id: 'siem', url: given.url, format: 'native', types: ['user.*'], tenants: [], audience: null },
        ...{ enabled: true, secret: '(not exported)' },
      },
    ]);
    expect(await installation.plan(stringify({ version: 1, event_receivers: exported }))).toEqual([]);
    const [step] = await installation.apply(file({ ...given, enabled: false }));
    expect(step).toMatchObject({ action: 'change', fields: { enabled: { from: true, to: false } } });
    const other = newInstallation({ SIEM_SECRET: `whsec_${Buffer.alloc(32, 2).toString('base64')}` });
    expect(await other.plan(file(given))).toMatchObject([{ fields: { secret: { from: '(secret)', to: '(secret)' } } }]);
    expect(await faultsOf(file({ ...given, types: ['nobody.*'], tenants: ['nowhere'], secret: 'whsec_x' }))).toEqual([
      expect.stringContaining('event_receivers[0].types[0] is no type of an event'),
      expect.stringContaining('event_receivers[0].secret must be a reference'),
      expect.stringContaining('event_receivers[0].tenants[0] is not the id of a tenant'),
    ]);
  });

  it('T655: what the file does not name stays: objects, fields, and a secret', async () => {
    const groups = context.get(GroupAdministration);
    const extra = await groups.create(by, 'globex', 'Of the console');
    const text = edited((draft) => {
      draft.applications = [{ id: grafana, name: 'Grafana 2', type: 'web' }];
      draft.identity_providers = [];
      delete draft.settings;
    });
    expect(idsOf(await installation.apply(text))).toEqual([`applications ${grafana}`]);
    expect((await groups.get(by, extra.id)).group.name).toBe('Of the console');
    expect(await context.get(ApplicationAdministration).get(grafana)).toMatchObject({
      name: 'Grafana 2',
      firstParty: true,
      secretHash: expect.any(String) as string,
    });
    expect(idsOf(await installation.apply(example))).toEqual([`applications ${grafana}`]);
  });

  it('a brand in the file: an image is a file beside it, which an export names and does not contain', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><path d="M0 0h4v4z"/></svg>';
    // Files in DATA_DIR are those of the service.
    const name = `${basename(service.dataDir)}.svg`;
    writeFileSync(join(service.dataDir, '..', name), svg);
    const logo = `file:../${name}`;
    const text = stringify({ version: 1, brand: [{ tenant_id: 'globex', name: 'Globex', logo_light: logo }] });
    const [step] = await installation.plan(text);
    expect(step).toMatchObject({ id: 'globex', action: 'create' });
    expect(step!.fields.logo_light).toEqual({ from: null, to: expect.stringMatching(/^[0-9a-f]{40}\.svg$/) as string });
    await installation.apply(text);
    expect(await installation.plan(text)).toEqual([]);
    const exported = await installation.exported();
    expect(exported.brand).toContainEqual(
      expect.objectContaining({ tenant_id: 'globex', logo_light: '(not exported)', logo_dark: null }),
    );
    expect(await installation.plan(stringify(exported))).toEqual([]);
    const wrong = [
      { tenant_id: 'globex', color: '#ffff00' },
      { tenant_id: 'nobody', logo_dark: 'https://evil.example/x.svg' },
      { tenant_id: 'acme', logo_dark: '(not exported)', favicon: 'file:none.png' },
    ];
    expect((await faultsOf(stringify({ version: 1, brand: wrong }))).map((one) => one.replace(/^\d+: /, ''))).toEqual([
      expect.stringMatching(/^brand\[0\]\.color gives white text/),
      'brand[1].tenant_id is not the id of a tenant',
      'brand[1].logo_dark must be file:PATH of a png, webp or svg file, or null',
      'brand[2].logo_dark is not in the file: give file:PATH, or null',
      expect.stringMatching(/^brand\[2\]\.favicon names "none\.png", which is no file/),
    ]);
    await installation.apply(stringify({ version: 1, brand: [{ tenant_id: 'globex', name: null, logo_light: null }] }));
    rmSync(join(service.dataDir, '..', name));
  });

  it('T656: a group that is gone does not open its application to everybody', async () => {
    const groups = context.get(GroupAdministration);
    const applications = context.get(ApplicationAdministration);
    const { id } = await groups.create(by, 'acme', 'Short-lived');
    await applications.change(by, grafana, { allowed_groups: [id] });
    await groups.remove(by, id);
    const exported = stringify(await installation.exported());
    expect(parse(exported)).toMatchObject({ applications: [{ allowed_groups: [id] }] });
    expect(await installation.plan(exported)).toEqual([]);
    expect((await applications.get(grafana)).allowedGroups).toEqual([id]);
    await installation.apply(example);
  });

  it('T657: no file removes an administrator, a tenant or a user: it has no members for them', async () => {
    for (const member of ['users', 'administrators', 'service_clients', '__proto__', 'constructor']) {
      expect((await faultsOf(`version: 1\n${member}: []`)).join()).toMatch(/is not known: give version/);
    }
  });

  it('T658: a change in the console beside the apply: another field lasts, and the same field is one of both', async () => {
    const applications = context.get(ApplicationAdministration);
    for (let round = 0; round < 8; round++) {
      const wanted = edited((draft) => (draft.applications[0]!.name = `Name ${round}`));
      await Promise.all([
        installation.apply(wanted),
        applications.change(by, grafana, { uri: `https://a.example/${round}`, name: `Console ${round}` }),
      ]);
      const { name, uri } = await applications.get(grafana);
      expect(uri).toBe(`https://a.example/${round}`);
      expect([`Name ${round}`, `Console ${round}`]).toContain(name);
    }
    await installation.apply(example);
  });

  it('T659: several applies of one new file at once all succeed, and end in one state', async () => {
    const applications = context.get(ApplicationAdministration);
    for (let round = 0; round < 4; round++) {
      const id = `0000000${round}-0000-4000-8000-00000000000a`;
      const text = stringify({
        version: 1,
        tenants: [{ id: `race-${round}`, name: 'Race' }],
        org_units: [{ id: `unit-${round}`, tenant_id: `race-${round}`, name: 'Unit' }],
        groups: [{ tenant_id: `race-${round}`, name: 'Group' }],
        settings: { SMTP: { SENDER: `a${round}@example.com` } },
        identity_providers: [
          {
            id: `idp-${round}`,
            name: 'I',
            issuer: `https://idp-${round}.example`,
            client_id: 'c',
            domains: [`d${round}.example`],
          },
        ],
        applications: [
          {
            ...{ id, name: 'A', type: 'web', client_secret: '${ENV:GRAFANA_SECRET}' },
            ...{ redirect_uris: ['https://a.example'], allowed_groups: [`race-${round}/Group`] },
          },
        ],
      });
      const results = await Promise.all(Array.from({ length: 4 }, () => installation.apply(text)));
      expect(await installation.plan(text)).toEqual([]);
      // Each object was made once; a setting can be set twice to one value.
      const made = results.flat().filter(({ section, action }) => action === 'create' && section !== 'settings');
      expect(idsOf(made).sort()).toEqual(
        [`applications ${id}`, `groups race-${round}/Group`, `identity_providers idp-${round}`]
          .concat([`org_units unit-${round}`, `tenants race-${round}`])
          .sort(),
      );
      expect((await applications.get(id)).allowedGroups).toHaveLength(1);
    }
  });

  it('a step that is refused leaves what came before it, and names itself', async () => {
    const providers = context.get(IdentityProviderAdministration);
    const spy = jest.spyOn(providers, 'create').mockRejectedValue(new Error('the provider is away'));
    const text = stringify({
      version: 1,
      tenants: [{ id: 'before', name: 'Before' }],
      identity_providers: [{ id: 'away', name: 'Away', issuer: 'https://away.example', client_id: 'c' }],
    });
    const error: unknown = await installation.apply(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StepFailed);
    expect(idsOf((error as StepFailed).done)).toEqual(['tenants before']);
    expect((error as StepFailed).message).toBe('identity_providers away');
    spy.mockRestore();
    expect(idsOf(await installation.apply(text))).toEqual(['identity_providers away']);
    expect((await context.get(Tenants).list(1000)).items).toContainEqual({ id: 'before', name: 'Before' });
  });

  it('the secrets that a lost data key has sealed are written again by the next apply', async () => {
    const text = stringify({
      version: 1,
      settings: { SMTP: { SECRET: '${ENV:PORTAL_MAIL_PASSWORD}' } },
      identity_providers: [
        { id: 'lost', name: 'L', issuer: 'https://lost.example', client_id: 'c', client_secret: '${ENV:ENTRA_SECRET}' },
      ],
      event_receivers: [{ id: 'lost', url: 'https://lost.example', secret: '${ENV:SIEM_SECRET}' }],
    });
    await installation.apply(text);
    const lost = new KeyRing(settings({ DATA_ENCRYPTION_KEY: dataKey('lost') }), new SystemRandom());
    const lose = (table: string, column: string, purpose: string, where: string) =>
      service.database.affected(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, [lost.seal(purpose, 'lost')]);
    await lose('system_configs', 'value', 'smtp-secret', "`key` = 'SECRET'");
    await lose('identity_providers', 'client_secret', 'identity-provider-secret', "id = 'lost'");
    await lose('event_receivers', 'secret', 'event-receiver-secret', "id = 'lost'");
    const keys = context.get(KeyRing, { strict: false });
    expect((await censusOfAll(service.database, keys)).unreadable).toBe(3);
    expect(idsOf(await installation.apply(text))).toEqual([
      'settings SMTP.SECRET',
      'identity_providers lost',
      'event_receivers lost',
    ]);
    expect((await censusOfAll(service.database, keys)).unreadable).toBe(0);
  });

  it('a value that is stored in another form than it is written in the file is no change at the next apply', async () => {
    const text = stringify({
      version: 1,
      identity_providers: [
        {
          ...{
            id: 'forms',
            name: ' Forms ',
            issuer: 'https://forms.example',
            client_id: 'c',
            domains: ['Forms.EXAMPLE'],
          },
          ...{ match_claim: '', client_secret_expires: '', claims: { email: '' } },
        },
      ],
      applications: [
        {
          ...{ id: '00000000-0000-4000-8000-0000000000f0', name: ' Forms ', type: 'spa' },
          ...{ redirect_uris: ['https://forms.example'], logo_url: '', uri: '', backchannel_logout_uri: '' },
        },
      ],
      event_receivers: [{ id: 'forms', url: 'https://forms.example', secret: '${ENV:SIEM_SECRET}', audience: '' }],
    });
    expect(await installation.apply(text)).toHaveLength(3);
    const { provider } = await context.get(IdentityProviderAdministration).get('forms');
    expect(provider).toMatchObject({ name: 'Forms', domains: ['forms.example'], claims: { email: null } });
    expect(idsOf(await installation.plan(text))).toEqual([]);
  });

  it('a domain of two providers is a fault of the file, and nothing is written', async () => {
    const provider = (id: string, ...domains: string[]) => ({
      ...{ id, name: 'D', issuer: `https://${id}.example`, client_id: 'c', domains },
    });
    await installation.apply(stringify({ version: 1, identity_providers: [provider('has', 'has.example')] }));
    const file = (...identity_providers: object[]) =>
      stringify({ version: 1, tenants: [{ id: 'not-written', name: 'N' }], identity_providers });
    const faults = await faultsOf(
      file(provider('one', 'shared.example', 'HAS.example'), provider('two', 'Shared.example')),
    );
    expect(faults.map((fault) => fault.replace(/^\d+: /, ''))).toEqual([
      'identity_providers[0].domains[0] belongs to the identity provider two',
      'identity_providers[0].domains[1] belongs to the identity provider has',
      'identity_providers[1].domains[0] belongs to the identity provider one',
    ]);
    expect(await service.count('tenants', 'id = ?', ['not-written'])).toBe(0);
    expect(await installation.plan(file(provider('one', 'has.example'), provider('has')))).toHaveLength(3);
  });

  it('a domain moves between providers in whatever order they stand in the file', async () => {
    const providers = (...domains: readonly string[][]) =>
      stringify({
        version: 1,
        identity_providers: domains.map((all, i) => ({
          ...{ id: `moves-${i}`, name: 'M', issuer: `https://moves-${i}.example`, client_id: 'c' },
          domains: all.map((name) => `${name}.example`),
        })),
      });
    await installation.apply(providers(['one'], ['two', 'moves'], ['three']));
    for (const next of [
      providers(['one', 'moves'], ['two'], ['three']),
      providers(['two'], ['three'], []),
      providers([], ['three'], ['two']),
    ]) {
      await installation.apply(next);
      expect(await installation.plan(next)).toEqual([]);
    }
  });
});
