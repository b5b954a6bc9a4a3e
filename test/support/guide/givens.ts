import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceClients } from '../../../src/introspection/service-client.repository';
import { password } from '../app';
import { givenIdentityProvider } from '../identity-providers';
import { importUsers, userImport } from '../import-users';
import { MfaClient } from '../mfa';
import { givenApplication, OpenIdBrowser } from '../openid';
import { blocksOf } from './guide-page';
import type { GuideReplay } from './guide-replay';

const day = 86_400_000;

type Given = (guide: GuideReplay) => Promise<unknown>;

/** What there is before the first request of a flow. The prose of the flow says the same. */
export const givens: Readonly<Record<string, Given>> = {
  'What the service offers': ({ service }) =>
    givenIdentityProvider(service, { id: 'entra', name: 'Entra ID', domains: ['example.net'] }),
  'With a password': ({ service }) => service.givenUser('ada', { nickname: 'Ada' }),
  'With an account of the directory': (guide) => givenDirectoryUser(guide, 'lin', 'Lin Chen'),
  'With a passkey': (guide) => givenSession(guide, 'pia', 'Pia'),
  'A code by e-mail': ({ service }) => service.givenUser('ben'),
  'Set up an authenticator': (guide) => givenSession(guide, 'cleo'),
  'A code of an authenticator': givenAuthenticator,
  'Trust a device': async (guide) => {
    await guide.service.givenUser('emil', { nickname: 'Emil' });
    await sendPassword(guide, 'emil');
  },
  'Recovery codes': async (guide) => {
    await givenSession(guide, 'fay');
    await sendPassword(guide, 'fay');
  },
  'A first or expired password': ({ service }) =>
    service.givenUser('gus', { passwordSetAt: new Date(service.clock.now().getTime() - 91 * day) }),
  'Change the own password': (guide) => givenSession(guide, 'otto'),
  'Confirm who the user is': (guide) => givenSession(guide, 'vera', 'Vera'),
  'A forgotten password': ({ service }) => service.givenUser('hana'),
  Refresh: (guide) => givenSession(guide, 'ivo'),
  'Refresh with rotation': (guide) => givenSession(guide, 'rosa'),
  'Log out': (guide) => givenSession(guide, 'june'),
  'Log out everywhere': async (guide) => {
    const user = await givenSession(guide, 'sam');
    for (const suffix of ['_2', '_3']) {
      guide.service.clock.advanceSeconds(60);
      await guide.session(user, { suffix });
    }
  },
  'Profile and last logins': (guide) => givenSession(guide, 'tess'),
  'The applications of a user': async (guide) => {
    await givenSession(guide, 'zora');
    await givenApplication(guide.service, { uri: 'https://grafana.example.com' });
  },
  'What a user has allowed to an application': async (guide) => {
    const { service, values, origin } = guide;
    await givenSession(guide, 'yara');
    const theirs = await givenApplication(service, { name: 'Timesheets', firstParty: false });
    const browser = new OpenIdBrowser(service, '/oidc', origin);
    await browser.signIn(theirs, values.get('access_token')!, { scope: 'openid profile email' }, true);
  },
  'A new e-mail address': async (guide) => {
    const { uid } = await guide.service.givenUser('kim', { nickname: 'Kim' });
    await guide.session(await guide.service.givenUser('admin', { isAdmin: true }), { mfa: 'totp' });
    guide.values.set('uid', uid);
  },
  'Ask about a token': async (guide) => {
    await givenSession(guide, 'mia');
    const { id, secret } = await guide.service.app.get(ServiceClients).create('invoices');
    guide.values.set('client_credentials', Buffer.from(`${id}:${secret}`).toString('base64'));
  },
  'Behind a proxy': (guide) => givenSession(guide, 'ulla', 'Ulla Müller'),
  'Not available': async (guide) => {
    await givenDirectoryUser(guide, 'noor', 'Noor');
    guide.directory.serviceBind = { code: 49 };
  },
  'Import a file': importTheFile,
};

async function givenSession(guide: GuideReplay, name: string, nickname = name) {
  const user = await guide.service.givenUser(name, { nickname });
  guide.values.set('uid', user.uid);
  await guide.session(user);
  return user;
}

async function givenDirectoryUser({ service, directory }: GuideReplay, name: string, cn: string): Promise<void> {
  Object.assign(directory, { uid: name, attributes: { cn, mail: `${name}@example.com` } });
  await service.givenUser(name, { provider: 'ldap' });
}

/** A pending login. */
async function sendPassword({ service, values }: GuideReplay, name: string): Promise<void> {
  const { body } = await service.login(name, password);
  values.set('uid', body.data.user_info.uid as string);
  values.set('mfa_token', body.data.mfa_token as string);
}

async function givenAuthenticator(guide: GuideReplay): Promise<void> {
  const { user, secret } = await new MfaClient(guide.service).givenAuthenticator('dora');
  guide.values.set('secret', secret);
  await sendPassword(guide, user.loginName);
}

/** Imports the file that the page shows. */
async function importTheFile({ service, page }: GuideReplay): Promise<void> {
  const file = join(service.dataDir, 'users.csv');
  const [csv] = blocksOf(page, 1).filter(({ language }) => language === 'csv');
  await writeFile(file, csv!.text);
  const imports = userImport(service.app);
  const { rows, created, failed } = await importUsers(imports, file);
  if (created !== rows) throw new Error(`the file of the page was not imported: ${JSON.stringify(failed)}`);
}
