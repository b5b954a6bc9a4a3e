import { isIP, type Socket } from 'node:net';
import type { LdapConfig } from '../../platform/config/ldap-config';
import { addressesOf, sharedLookup } from '../connection/host-addresses';
import { LoginSockets } from '../connection/login-sockets';
import { startTls } from '../connection/start-tls';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import type { Verdict } from '../verdict';
import { loginByStrategy, type StrategyServer } from './strategy-login';
import { verdictOf } from './strategy-verdict';

/** A finished search filter and the password to bind with. */
export interface SearchCredential {
  readonly filter: string;
  readonly password: string;
}

/** One address of `LDAP_URL`: a login there by passport-ldapauth, bounded in time, on connections that end with it. */
export class DirectoryServer {
  /** As it stands in the log: without whatever else the URL may hold. */
  readonly label: string;
  private readonly host: string;
  private readonly port: number;
  private readonly tls: 'none' | 'starttls' | 'tls';

  constructor(
    url: string,
    private readonly config: LdapConfig,
  ) {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === 'ldaps:';
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = Number(port) || (secure ? 636 : 389);
    this.tls = secure ? 'tls' : config.startTls ? 'starttls' : 'none';
    this.label = `${protocol}//${hostname}:${this.port}`;
  }

  /** @param budgetMs for everything: look-up, connections, TLS, two binds and a search. @throws DirectoryFailure */
  async judge(credential: SearchCredential, budgetMs: number): Promise<Verdict> {
    const sockets = new LoginSockets();
    let timer: NodeJS.Timeout | undefined;
    const timeIsUp = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DirectoryFailure('no answer in time')), budgetMs);
    });
    try {
      return await Promise.race([this.login(credential, sockets), timeIsUp]);
    } finally {
      clearTimeout(timer);
      sockets.close();
    }
  }

  private async login({ filter, password }: SearchCredential, sockets: LoginSockets): Promise<Verdict> {
    const { config } = this;
    const server: StrategyServer = {
      ...(await this.transport(sockets)),
      bindDN: config.bindDn,
      bindCredentials: config.bindPassword,
      searchBase: config.searchBase,
      searchFilter: filter,
      searchAttributes: Object.values(config.attributes),
      // Groups are not searched. The default would ask the directory for an attribute `dn` as well (ldap-message.ts).
      groupDnProperty: config.attributes.login,
      timeout: config.timeoutMs,
      connectTimeout: config.timeoutMs,
      // Strict parsing throws where nobody catches, for names that the directory itself understands.
      strictDN: false,
    };
    const login = () => loginByStrategy(server, password);
    return verdictOf(await (this.tls === 'none' ? sockets.during(login) : login()));
  }

  private async transport(sockets: LoginSockets): Promise<Pick<StrategyServer, 'url' | 'tlsOptions'>> {
    if (this.tls === 'none') return { url: `ldap://${await this.address()}:${this.port}` };
    const ready = this.tls === 'starttls' ? await Promise.all([this.agreed(sockets), this.agreed(sockets)]) : [];
    return {
      url: `ldaps://${isIP(this.host) === 6 ? `[${this.host}]` : this.host}:${this.port}`,
      tlsOptions: {
        ca: this.config.ca,
        // The name that the certificate is held to; as a server name indication an address is not allowed.
        host: this.host,
        ...(isIP(this.host) === 0 ? { servername: this.host } : {}),
        minVersion: 'TLSv1.2',
        lookup: sharedLookup,
        // Passed on to `net.Socket`; the type of `tls.connect` does not know it.
        ...{ signal: sockets.signal },
        // Read once by `tls.connect` for each of the two clients of a login. Undefined: it makes a connection of its own.
        get socket() {
          return sockets.handOver(ready.shift());
        },
      },
    };
  }

  /** The address instead of the name, so that the library looks nothing up; it does not take IPv6 literals, though. */
  private async address(): Promise<string> {
    const addresses = await addressesOf(this.host).catch((error: unknown) => Promise.reject(connectionFailure(error)));
    return addresses.find(({ family }) => family === 4)?.address ?? this.host;
  }

  /**
   * A connection on which the server has agreed to TLS, before the library has it; that makes TLS on it as for ldaps://,
   * so that no byte of its own leaves before the certificate is verified.
   */
  private async agreed(sockets: LoginSockets): Promise<Socket> {
    const socket = await sockets.open(this.host, this.port);
    await startTls(socket);
    return socket;
  }
}
