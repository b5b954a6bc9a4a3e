import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applicationRow, exchange, OpenIdBrowser, openIdSettings, sendTo } from '../support/openid';
import { dataOf } from '../support/passkeys';
import { Replicas } from '../support/replicas';
import { runProgram } from '../support/run-program';
import { scimSettings } from '../support/scim/client';
import { ServiceProcess } from '../support/servers/service-process';
import { testSettings } from '../support/settings';

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

describe('SCIM over two processes on MariaDB', () => {
  let replicas: Replicas;
  let bearer: string;
  beforeAll(async () => {
    const settings = { ...openIdSettings, OIDC_PRIVATE_KEY: String(key), RATE_LIMIT: 'off' };
    replicas = await Replicas.start({ ...scimSettings, ...settings });
    bearer = (await replicas.cli('client', 'create', 'entra', '--scim')).token as string;
  });
  afterAll(() => replicas.stop());

  const at = (n: number) => sendTo(replicas.services[n % 2]!.url);
  const setActive = (n: number, uid: string, active: boolean) =>
    fetch(`${replicas.services[n % 2]!.url}/scim/v2/Users/${uid}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ Operations: [{ op: 'Replace', path: 'active', value: active }] }),
    });

  it('T582 disabling beside a refresh and the exchange of a code leaves no token that lives, in 15 rounds', async () => {
    const { statement, values, application } = applicationRow(new Date());
    await replicas.rows(statement, values);
    const uid = await replicas.givenUser('leaver');
    for (let n = 0; n < 15; n++) {
      const { access_token: access, refresh_token: refresh } = dataOf(await replicas.login('leaver')).data as Record<
        string,
        string
      >;
      const browser = new OpenIdBrowser(at(n));
      const code = await browser.signIn(application, access!);
      const [disabled, refreshed, exchanged] = await Promise.all([
        setActive(n, uid, false),
        at(n + 1).send('POST', '/refresh', undefined, { bearer: refresh }),
        exchange(at(n + 1), application, code),
      ]);
      expect(disabled.status).toBe(200);
      const lives = async (path: string, token: unknown) =>
        (await at(n).send('GET', path, undefined, { bearer: String(token) })).status === 200;
      const tokens = [access, refreshed.status === 200 ? (refreshed.body.data.access_token as string) : access];
      for (const token of tokens) expect(await lives('/user/me', token)).toBe(false);
      if (exchanged.status === 200) expect(await lives('/oidc/me', exchanged.body.access_token)).toBe(false);
      const successor = refreshed.status === 200 ? (refreshed.body.data.refresh_token as string) : refresh;
      expect((await at(n).send('POST', '/refresh', undefined, { bearer: successor })).status).toBe(401);
      expect((await setActive(n + 1, uid, true)).status).toBe(200);
    }
  });

  it('a token that is revoked by the command line is refused by every replica at once', async () => {
    const { id, token } = (await replicas.cli('client', 'create', 'okta', '--scim', '--tenant', 'root')) as {
      id: string;
      token: string;
    };
    const statuses = () =>
      Promise.all(
        [0, 1].map(async (n) => (await at(n).send('GET', '/scim/v2/Users', undefined, { bearer: token })).status),
      );
    expect(await statuses()).toEqual([200, 200]);
    expect(await replicas.cli('client', 'revoke', id)).toEqual({ id, revoked: true });
    expect(await statuses()).toEqual([401, 401]);
    const list = (await replicas.cli('client', 'list')) as { id: string; scim: boolean; tenant: string | null }[];
    expect(list.find((one) => one.id === id)).toMatchObject({ scim: true, tenant: 'root' });
    expect((await replicas.run(['client', 'create', 'x', '--scim', '--tenant', 'nowhere'])).code).not.toBe(0);
    expect((await replicas.run(['client', 'create', 'x', '--tenant', 'root'])).code).not.toBe(0);
  });
});

describe('the setting SCIM', () => {
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scim-'));
    env = { ...testSettings, DATABASE_URL: `sqlite:${join(folder, 'scim.db')}`, DATA_DIR: folder };
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('with SCIM=off the paths are not part of the service', async () => {
    const service = await ServiceProcess.start({ env });
    const answer = await fetch(`${service.url}/scim/v2/ServiceProviderConfig`);
    expect([answer.status, await answer.json()]).toMatchObject([404, { error_code: 'COMMON_404001' }]);
    await service.stop();
  });

  it.each([
    [{ SCIM_USER_PROVIDER: 'oidc' }, 'SCIM_IDENTITY_PROVIDER'],
    [{ SCIM_IDENTITY_PROVIDER: 'entra' }, 'SCIM_IDENTITY_PROVIDER'],
    [{ SCIM_USER_PROVIDER: 'oidc', SCIM_IDENTITY_PROVIDER: 'no id' }, 'SCIM_IDENTITY_PROVIDER'],
    [{ SCIM_USER_PROVIDER: 'ldap' }, 'SCIM_USER_PROVIDER'],
    [{ SCIM_USER_PROVIDER: 'saml' }, 'SCIM_USER_PROVIDER'],
  ])('%j stops the start with one line that names %s', async (wrong, name) => {
    const ended = await runProgram('dist/src/main.js', [], { env: { ...env, ...scimSettings, ...wrong }, cwd: folder });
    const lines = ended.stderr.trim().split('\n');
    expect([ended.code, lines]).toEqual([1, [expect.stringContaining(`${name} `)]]);
  });
});
