import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type Page, WebBrowser } from '../web-browser';
import { hostFor } from './choose-host';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

const templates = '/usr/share/lemonldap-ng/portal/templates';

/** How the service is known there, and where people come back to. */
export interface LemonClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

/**
 * LemonLDAP::NG of Debian as an OpenID provider, with its demonstration accounts: `dwho`, `rtyler` and `msmith`, whose
 * passwords are their names. The port is known before the start, because the service stores the issuer first.
 */
export class LemonLdap extends PrivateServer {
  private constructor(
    server: ServerProcess,
    readonly issuer: string,
  ) {
    super(server);
  }

  static issuerOf = (port: number): string => `http://127.0.0.1:${port}`;

  static async start(port: number, client: LemonClient): Promise<LemonLdap> {
    return inPrivateDirectory('lemonldap', async (directory) => {
      const issuer = LemonLdap.issuerOf(port);
      for (const folder of ['conf', 'cache', 'sessions', 'locks']) await mkdir(join(directory, folder));
      await writeFile(
        join(directory, 'conf', 'lmConf-1.json'),
        JSON.stringify(configuration(directory, issuer, client)),
      );
      await writeFile(join(directory, 'lemonldap-ng.ini'), ini(directory));
      const program = join(directory, 'portal.psgi');
      await writeFile(program, psgi(directory));
      const address = ['--host', '127.0.0.1', '--port', `${port}`];
      const server = await ServerProcess.start({
        program: 'plackup',
        args: ['-E', 'production', ...address, program],
        host: hostFor('plackup', directory, [port]),
        directory,
        ready: async () => {
          const { status } = await new WebBrowser().ask(`${issuer}/.well-known/openid-configuration`);
          if (status !== 200) throw new Error(`LemonLDAP::NG answered ${status}`);
        },
      });
      return new LemonLdap(server, issuer);
    });
  }

  /**
   * Fills in the form of its page, as a person does who was sent there.
   * @returns the address to which the browser is sent back
   */
  async signIn(browser: WebBrowser, address: string, name: string): Promise<URL> {
    const page = await browser.ask(address);
    if (page.headers.location !== undefined) return new URL(page.headers.location);
    const fields = { url: hidden(page, 'url'), token: hidden(page, 'token'), user: name, password: name };
    const answer = await browser.ask(new URL(address), { form: fields });
    if (answer.headers.location === undefined)
      throw new Error(`LemonLDAP::NG answered ${answer.status} ${answer.text}`);
    return new URL(answer.headers.location);
  }
}

const hidden = ({ text }: Page, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

/** As the package does it, with a configuration of its own. */
const psgi = (directory: string): string => `
BEGIN { $ENV{LLNG_DEFAULTCONFFILE} = '${directory}/lemonldap-ng.ini'; }
use Lemonldap::NG::Portal::Main;
Lemonldap::NG::Portal::Main->run({});
`;

const ini = (directory: string): string => `
[all]
logLevel = warn
[configuration]
type = File
dirName = ${directory}/conf
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'configuration', 'cache_root' => '${directory}/cache' }
[portal]
staticPrefix = /static
templateDir = ${templates}
languages = en
`;

function configuration(directory: string, issuer: string, { id, secret, redirectUri }: LemonClient): object {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const files = { Directory: `${directory}/sessions`, LockDirectory: `${directory}/locks` };
  return {
    ...{ cfgNum: 1, cfgAuthor: 'tests', cfgDate: 1, portal: `${issuer}/`, domain: '127.0.0.1' },
    ...{ cookieName: 'lemonldap', securedCookie: 0, key: 'a key of the tests', whatToTrace: 'uid' },
    ...{ authentication: 'Demo', userDB: 'Same', demoExportedVars: { cn: 'cn', mail: 'mail', uid: 'uid' } },
    ...{ globalStorage: 'Apache::Session::File', globalStorageOptions: files },
    ...{ persistentStorage: 'Apache::Session::File', persistentStorageOptions: files },
    // Nobody asks for a picture. Its own module would need ImageMagick.
    captcha: '::Auth::Null',
    ...{ locationRules: {}, exportedHeaders: {}, macros: {}, groups: {} },
    issuerDBOpenIDConnectActivation: 1,
    oidcServiceMetaDataIssuer: issuer,
    ...{ oidcServicePrivateKeySig: privateKey, oidcServicePublicKeySig: publicKey, oidcServiceKeyIdSig: 'first' },
    oidcServiceAllowAuthorizationCodeFlow: 1,
    oidcRPMetaDataOptions: {
      service: {
        oidcRPMetaDataOptionsClientID: id,
        oidcRPMetaDataOptionsClientSecret: secret,
        oidcRPMetaDataOptionsRedirectUris: redirectUri,
        oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
        oidcRPMetaDataOptionsRequirePKCE: 1,
        oidcRPMetaDataOptionsBypassConsent: 1,
        oidcRPMetaDataOptionsUserIDAttr: 'uid',
      },
    },
    oidcRPMetaDataExportedVars: { service: { email: 'mail', name: 'cn', preferred_username: 'uid' } },
  };
}
