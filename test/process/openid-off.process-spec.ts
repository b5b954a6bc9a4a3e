import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '../support/servers/service-process';
import { testSettings } from '../support/settings';

/** A text of the package `oidc-provider`, which the bundle keeps. */
const mark = 'authorization request resolved without requesting interactions';

/** A text of the package `openid-client`. */
const clientMark = 'discovered metadata issuer does not match the expected issuer';

describe('the package of the OpenID provider', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'openid-off-'))));
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['off', 404, false],
    ['on', 200, true],
  ])('with OIDC=%s discovery answers %i, and the package is loaded: %s', async (OIDC, status, loaded) => {
    const list = join(folder, `${OIDC}.json`);
    const env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(folder, `${OIDC}.db`)}`,
      DATA_DIR: folder,
      NODE_OPTIONS: `--require ${join(__dirname, '../support/loaded-files.cjs')}`,
      LOADED_FILES: list,
      OIDC,
    };
    const service = await ServiceProcess.start({ env });
    const answer = await fetch(`${service.url}/oidc/.well-known/openid-configuration`);
    await service.stop();
    const files = JSON.parse(await readFile(list, 'utf8')) as string[];
    const texts = await Promise.all(files.filter((file) => /\.js$/.test(file)).map((file) => readFile(file, 'utf8')));
    expect([answer.status, texts.some((text) => text.includes(mark))]).toEqual([status, loaded]);
    // Without a sign-in at an identity provider, its package is not loaded either.
    expect(texts.some((text) => text.includes(clientMark))).toBe(false);
  });
});
