import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { WebBrowser } from '../web-browser';
import { hostFor } from './choose-host';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'headers', 'auth_openidc'];

/** Its id at the provider, and how it proves who it is. */
export interface OpenIdClient {
  readonly id: string;
  readonly secret: string | undefined;
}

/**
 * Apache with mod_auth_openidc: everything below `/` needs a sign-in, and the headers of each answer say as whom. The
 * ports are known before the start, because the provider has to know the redirect URI first.
 */
export class OpenIdApache extends PrivateServer {
  private constructor(
    server: ServerProcess,
    readonly port: number,
  ) {
    super(server);
  }

  static redirectUri = (port: number): string => `http://127.0.0.1:${port}/callback`;
  /** Where the module takes logout tokens. */
  static logoutUri = (port: number): string => `${OpenIdApache.redirectUri(port)}?logout=backchannel`;

  static async start(issuer: string, client: OpenIdClient, port: number, options = ''): Promise<OpenIdApache> {
    return inPrivateDirectory('openid-apache', async (directory) => {
      const host = hostFor('apache2', directory, [port], 'reaches-loopback');
      const pages = join(directory, 'pages');
      await mkdir(pages);
      await writeFile(join(pages, 'index.html'), 'reports');
      const file = join(directory, 'apache.conf');
      await writeFile(file, configuration(directory, `${host.listenAddress}:${port}`, issuer, client, port, options));
      const server = await ServerProcess.start({
        program: 'apache2',
        args: ['-d', directory, '-f', file, '-D', 'FOREGROUND'],
        host,
        directory,
        log: join(directory, 'error.log'),
        // It leads to the provider.
        ready: async () => {
          const { status } = await new WebBrowser().ask(`http://127.0.0.1:${port}/`);
          if (status !== 302) throw new Error(`Apache answered ${status}`);
        },
      });
      return new OpenIdApache(server, port);
    });
  }

  /** `http://127.0.0.1:port` */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
}

/** Without `User`, Apache says that it cannot change its user, and reads the private directory as root. */
function configuration(
  directory: string,
  listen: string,
  issuer: string,
  { id, secret }: OpenIdClient,
  port: number,
  options: string,
): string {
  return `
ServerName localhost
PidFile ${directory}/apache.pid
DefaultRuntimeDir ${directory}
ErrorLog ${directory}/error.log
LogLevel warn auth_openidc:debug
Listen ${listen}
${modules.map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`).join('\n')}
DocumentRoot ${directory}/pages
DirectoryIndex index.html

OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${id}
${secret === undefined ? '' : `OIDCClientSecret ${secret}`}
OIDCRedirectURI ${OpenIdApache.redirectUri(port)}
OIDCCryptoPassphrase a-passphrase-of-the-tests
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCCookieSameSite On
OIDCSessionType server-cache
OIDCRemoteUserClaim preferred_username
${options}

<Location "/">
  AuthType openid-connect
  Require valid-user
  Header always set X-User "%{OIDC_CLAIM_preferred_username}e"
  Header always set X-Email "%{OIDC_CLAIM_email}e"
  Header always set X-Acr "%{OIDC_CLAIM_acr}e"
</Location>
`;
}
