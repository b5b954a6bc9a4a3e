import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runScript } from '../support/run-script';
import { read, ROOT } from '../support/manifests';

const changelog = (section: string) =>
  `# Changelog\n\n${section}\n## [1.0.0] - 2026-11-23\n\n### Upgrade\n\nNothing.\n`;
const upgrade = '### Upgrade\n\nRun `migrate` first.\n';

describe('the notes of a release', () => {
  let notesOf: typeof import('../../scripts/release-notes.mjs').releaseNotes;
  beforeAll(async () => ({ releaseNotes: notesOf } = await import('../../scripts/release-notes.mjs')));

  it('are the section of the version, and of no other', () => {
    const text = changelog(`## [1.1.0] - 2027-02-01\n\n${upgrade}\n### Added\n\n- A button.\n`);
    expect(notesOf(text, '1.1.0')).toBe(`${upgrade}\n### Added\n\n- A button.`);
    expect(notesOf(text, '1.0.0')).toBe('### Upgrade\n\nNothing.');
  });

  it.each([
    ['no section of this version', '## [1.2.0] - 2027-02-01\n\n### Upgrade\n\nText.\n', 'has no section [1.1.0]'],
    ['no section "Upgrade"', '## [1.1.0] - 2027-02-01\n\n### Added\n\n- A button.\n', 'what an operator has to do'],
    [
      'an empty section "Upgrade"',
      '## [1.1.0] - 2027-02-01\n\n### Upgrade\n\n### Added\n\n- A.\n',
      'what an operator has to do',
    ],
    ['an empty section "Upgrade" at the end', '## [1.1.0] - 2027-02-01\n\n### Upgrade\n', 'what an operator has to do'],
    ['"Upgrade" only in the section of another version', '## [1.1.0] - 2027-02-01\n', 'what an operator has to do'],
    ['no date', `## [1.1.0]\n\n${upgrade}`, 'no date'],
  ])('there is no release with %s', (_, section, problem) => {
    expect(() => notesOf(changelog(section), '1.1.0')).toThrow(problem);
  });

  it('links to files of the repository lead to the tag, and other links stay', () => {
    const links = '[a](docs/operations/backup.md#cron-job) [b](https://example.com) [c](#z)';
    const notes = notesOf(changelog(`## [Unreleased]\n\n### Upgrade\n\n${links}\n`), 'Unreleased', {
      links: 'https://git.example.com/o/r/blob/v1.1.0',
    });
    expect(notes).toContain(
      '[a](https://git.example.com/o/r/blob/v1.1.0/docs/operations/backup.md#cron-job) [b](https://example.com) [c](#z)',
    );
  });

  it('each section of CHANGELOG.md has them', () => {
    const text = read('CHANGELOG.md');
    const versions = [...text.matchAll(/^## \[([^\]]+)\]/gm)].map(([, version]) => version!);
    expect(versions).toContain('Unreleased');
    for (const version of versions) expect(notesOf(text, version)).toContain('### Upgrade');
  });

  it('the script fails when a package has another version than the tag', async () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect((await runScript('scripts/release-notes.mjs', version)).code).toBe(0);
    const { code, output } = await runScript('scripts/release-notes.mjs', '99.0.0');
    expect(code).toBe(1);
    for (const folder of ['.', 'sdk/typescript', 'guard']) expect(output).toContain(`package.json of ${folder} has`);
  });
});

describe('the version of a release', () => {
  let script: typeof import('../../scripts/set-version.mjs');
  beforeAll(async () => (script = await import('../../scripts/set-version.mjs')));
  const { version } = JSON.parse(read('package.json')) as { version: string };

  it('is the same in each manifest, overlay, Job and page, and in openapi.json', () => {
    const found = script.versionPlaces(version);
    const files = [...new Set(found.map(([path]) => path))];
    for (const path of ['package-lock.json', 'guard/package.json', 'sdk/typescript/README.md'])
      expect(files).toContain(path);
    expect(files.filter((path) => path.startsWith('deploy/')).length).toBeGreaterThan(5);
    expect(found.filter(([, named]) => named !== version)).toEqual([]);
    expect((JSON.parse(read('openapi.json')) as { info: { version: string } }).info.version).toBe(version);
  });

  it('is written to each file that names it, and to no other version of another program', () => {
    const texts = new Map<string, string>();
    script.versionPlaces('99.0.0', (path, text) => texts.set(path, text));
    const lock = JSON.parse(texts.get('package-lock.json')!) as {
      version: string;
      packages: Record<string, { version: string }>;
    };
    expect([lock.version, lock.packages['']!.version]).toEqual(['99.0.0', '99.0.0']);
    const others = JSON.parse(read('package-lock.json')) as typeof lock;
    expect({ ...lock.packages, '': null }).toEqual({ ...others.packages, '': null });
    expect(texts.get('guard/README.md')).toContain('portal-auth-guard-99.0.0.tgz');
    expect(texts.get('deploy/kustomize/overlays/production/kustomization.yaml')).toContain('newTag: 99.0.0\n');
  });

  it('names the section of what was not released, and leaves an empty one above it', () => {
    const text = `# Changelog\n\n## [Unreleased]\n\n${upgrade}`;
    expect(script.released(text, '1.1.0', '2027-02-01', '\n### Upgrade\n\nNothing.\n')).toBe(
      `# Changelog\n\n## [Unreleased]\n\n### Upgrade\n\nNothing.\n\n## [1.1.0] - 2027-02-01\n\n${upgrade}`,
    );
  });

  it('is not given twice', () => {
    const text = changelog(`## [Unreleased]\n\n${upgrade}`);
    expect(() => script.released(text, '1.0.0', '2027-02-01')).toThrow('has a section [1.0.0] already');
    expect(() => script.released(changelog(''), '1.1.0', '2027-02-01')).toThrow('no section [Unreleased]');
  });

  it.each([[], ['1.2'], ['1.2.0', 'tomorrow']])(
    'the script changes nothing with the arguments %j',
    async (...given) => {
      const { code, output } = await runScript('scripts/set-version.mjs', ...given);
      expect(code).toBe(2);
      expect(output).toContain('scripts/set-version.mjs VERSION DATE');
    },
  );
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly if?: string;
  readonly uses?: string;
  readonly environment?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

describe('the release workflow', () => {
  const text = read('.github/workflows/release.yml');
  const workflow = parse(text) as { permissions: object; concurrency: { group: string }; jobs: Record<string, Job> };
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([name, job]) => (job.steps ?? []).map((step) => ({ name, step })));
  const runs = steps.flatMap(({ step }) => step.run ?? []).join('\n');

  it('each action is pinned to a commit, with its version beside it', () => {
    const used = [...text.matchAll(/uses: (\S+)(.*)/g)].filter(([, action]) => !action!.startsWith('./'));
    expect(used.length).toBeGreaterThan(10);
    const pins = new Map<string, string>();
    for (const [line, action, comment] of used) {
      expect([line, action]).toEqual([line, expect.stringMatching(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/)]);
      expect([line, comment]).toEqual([line, expect.stringMatching(/^ # v\d+\.\d+\.\d+$/)]);
      const [name = '', commit = ''] = action!.split('@');
      expect([name, pins.get(name) ?? commit]).toEqual([name, commit]);
      pins.set(name, commit);
    }
  });

  it('a job has no permission that it does not name, and only jobs that sign or publish may ask for an identity', () => {
    expect(workflow.permissions).toEqual({});
    const rights = Object.fromEntries(
      jobs.map(([name, { permissions }]) => [
        name,
        Object.keys(permissions).filter((key) => permissions[key] === 'write'),
      ]),
    );
    expect(rights).toEqual({
      notes: [],
      checks: [],
      packages: ['id-token', 'attestations'],
      image: ['packages', 'id-token', 'attestations'],
      publish: ['id-token'],
      release: ['contents'],
    });
    // A second person may have to agree (the environment), before anything leaves.
    for (const name of ['image', 'publish', 'release']) expect(workflow.jobs[name]!.environment).toBe('release');
  });

  it('names no registry and no owner, so a fork can run it', () => {
    const hosts = [...runs.matchAll(/\b[\w-]+(?:\.[\w-]+)*\.(?:io|com|org|dev)\b/g)].map(([host]) => host);
    expect(hosts).toEqual([]);
    expect(text).not.toMatch(/github\.repository_owner *==|(?:ghcr|docker|quay|npmjs|npm\.pkg)\.\w+/);
    expect(workflow.jobs.image!.if).toContain("vars.IMAGE != ''");
    expect(workflow.jobs.publish!.if).toContain("vars.NPM_REGISTRY != ''");
  });

  it('a rehearsal signs and publishes nothing', () => {
    const tag = "github.ref_type == 'tag'";
    for (const name of ['image', 'publish', 'release']) expect(workflow.jobs[name]!.if).toContain(tag);
    const signing = steps.filter(
      ({ name, step }) => name === 'packages' && /cosign|attest/.test(`${step.uses} ${step.run}`),
    );
    expect(signing.length).toBeGreaterThanOrEqual(5);
    for (const { step } of signing) expect(step.if).toContain(tag);
  });

  it('nothing is built or published before the checks of this commit have passed', () => {
    const needs = (name: string): string[] =>
      [workflow.jobs[name]?.needs ?? []].flat().flatMap((one) => [one, ...needs(one)]);
    for (const name of ['packages', 'image', 'publish', 'release']) expect(needs(name)).toContain('checks');
    expect(workflow.jobs.checks!.uses).toBe('./.github/workflows/ci.yml');
    const ci = parse(read('.github/workflows/ci.yml')) as { on: object; concurrency: { group: string } };
    expect(Object.keys(ci.on)).toContain('workflow_call');
    // `github.workflow` is the name of the calling workflow. The same group would wait for itself.
    expect(ci.concurrency.group).toMatch(/^\$\{\{ github\.workflow \}\}/);
    expect(workflow.concurrency.group).toMatch(/^publish-/);
    // After `!cancelled()`, a job that failed would not stop the ones behind it without `!failure()`.
    for (const name of ['publish', 'release'])
      expect(workflow.jobs[name]!.if).toMatch(/!failure\(\) && !cancelled\(\)/);
  });

  it('what somebody else can name is never part of a script, and no token stays in the checkout', () => {
    for (const { step } of steps) {
      expect(step.run ?? '').not.toContain('${{');
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with?.['persist-credentials']).toBe(false);
    }
  });

  it('what is published was attested, and is built by no later job', () => {
    expect(workflow.jobs.publish!.steps!.map((step) => step.uses ?? '').join()).not.toContain('checkout');
    const [provenance] = workflow.jobs.packages!.steps!.filter(
      ({ uses, with: given }) => uses?.startsWith('actions/attest@') && !given?.['sbom-path'],
    );
    expect(provenance!.with!['subject-path']).toBe('release/*.tgz\nrelease/*.cdx.json\n');
    expect(runs).toContain('npm publish "./$file" --provenance');
  });

  it('each script that it runs exists', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...runs.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name!);
    expect(named).toContain('sbom');
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
  });

  it('the page for operators checks the identity that the workflow has', () => {
    const page = read('docs/operations/verification.md');
    expect(page).toContain('.github/workflows/release.yml@refs/tags/v$VERSION');
    for (const file of ['service.cdx.json', 'sdk.cdx.json', 'guard.cdx.json', 'SHA256SUMS.sigstore.json'])
      expect(page).toContain(`\`${file}\``);
  });
});

describe('docs/security/advisories', () => {
  const folder = 'docs/security/advisories';
  const headings = (page: string) => [...read(folder, page).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  const fields = (page: string) => [...read(folder, page).matchAll(/^\| ([\w ]+?) +\|/gm)].map(([, field]) => field);
  const pages = readdirSync(join(ROOT, folder)).filter((name) => !['README.md', 'template.md'].includes(name));

  it('the index lists each advisory and no other, and says so when there is none', () => {
    const rows = [...read(folder, 'README.md').matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, page]) => page);
    expect(rows.sort()).toEqual(pages.sort());
    expect(read(folder, 'README.md').includes('No advisory has been published.')).toBe(pages.length === 0);
  });

  it('each one has the fields and headings of the template', () => {
    expect(headings('template.md')).toContain('Am I affected?');
    for (const page of pages) {
      expect(headings(page)).toEqual(headings('template.md'));
      expect(fields(page)).toEqual(fields('template.md'));
      expect(read(folder, page)).not.toMatch(/GHSA-xxxx|YYYY|NNN/);
    }
  });

  it('SECURITY.md leads there', () => expect(read('SECURITY.md')).toContain('docs/security/advisories/README.md'));
});
