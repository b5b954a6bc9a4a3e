import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, testSettings } from '../support/settings';

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** What is built is one copy of everything (ADR 0015): V8's coverage names each file that the process loaded. */
describe('the built program', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function loadedBy(settings: Record<string, string>, paths: readonly string[]): Promise<string[]> {
    const service = await ServiceProcess.start({
      env: { ...testSettings, API_DOCS: 'true', NODE_V8_COVERAGE: directory, ...settings },
    });
    for (const path of paths) expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    const login = await fetch(`${service.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'nobody', password: 'Correct-Horse-7', captcha_token: captchaToken }),
    });
    expect(await login.json()).toMatchObject({ error_code: 'LOGIN_404001' });
    await service.stop();
    const reports = await Promise.all(
      (await readdir(directory)).map(
        async (name) => JSON.parse(await readFile(join(directory, name), 'utf8')) as Coverage,
      ),
    );
    return reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => url.startsWith('file:'));
  }

  const packagesOf = (urls: readonly string[]) =>
    new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));

  it('loads no package beside what it holds, but a binary and the path of a page', async () => {
    const databases = MariaDbDatabases.shared();
    const url = await databases.freshDatabase();
    try {
      const urls = await loadedBy({ DATABASE_URL: url }, ['/health/ready', '/openapi.json']);
      expect(packagesOf(urls)).toEqual(new Set(['@node-rs/bcrypt', 'swagger-ui-dist']));
      expect(urls.filter((url) => !url.includes('/node_modules/') && !url.includes('/dist/src/bundle/'))).toEqual([
        `file://${resolve('dist/src/main.js')}`,
      ]);
    } finally {
      await databases.drop(url);
    }
  });
});
