import { isIP, type Socket } from 'node:net';
import type { LdapConfig } from '../../platform/config/ldap-config';
import { addressesOf, sharedLookup } from '../connection/host-addresses';
import { LoginSockets } from '../connection/login-sockets';
import { startTls } from '../connection/start-tls';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import type { Verdict } from '../verdict';
import { loginByStrategy, type StrategyServer } from './strategy-login';
import { verdictOf } from './strategy-verdict';

export interface SearchCredential {
  /** A complete filter, without a placeholder. */
  readonly filter: string;
  /** The password for the bind as the entry that the search finds. */
  readonly password: string;
}

/** One server of `LDAP_URL`. Each login has a time limit, and its connections are closed when the login ends. */
export class DirectoryServer {
  /** Protocol, host and port for the log, without any other part of the URL. */
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

  /** @param budgetMs limits the look-up, connections, TLS, two binds and the search. @throws DirectoryFailure */
  async judge(credential: SearchCredential, budgetMs: number): Promise<Verdict> {
    const sockets = new LoginSockets();
    let timer: NodeJS.Timeout | undefined;
    const timeOut = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DirectoryFailure('no answer in time')), budgetMs);
    });
    try {
      return await Promise.race([this.login(credential, sockets), timeOut]);
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
      // Groups are not searched. The default makes ldapjs ask for an attribute `dn`, which `checkedMessage` refuses.
      groupDnProperty: config.attributes.login,
      timeout: config.timeoutMs,
      connectTimeout: config.timeoutMs,
      // Strict parsing throws an error that no code catches, also for DNs that the directory accepts.
      strictDN: false,
    };
    const login = () => loginByStrategy(server, password);
    return verdictOf(await (this.tls === 'none' ? sockets.during(login) : login()));
  }

  private async transport(sockets: LoginSockets): Promise<Pick<StrategyServer, 'url' | 'tlsOptions'>> {
    if (this.tls === 'none') return { url: `ldap://${await this.address()}:${this.port}` };
    const ready =
      this.tls === 'starttls' ? await Promise.all([this.openForTls(sockets), this.openForTls(sockets)]) : [];
    return {
      url: `ldaps://${isIP(this.host) === 6 ? `[${this.host}]` : this.host}:${this.port}`,
      tlsOptions: {
        ca: this.config.ca,
        // The certificate is checked against this name. An IP address is not allowed as server name indication.
        host: this.host,
        ...(isIP(this.host) === 0 ? { servername: this.host } : {}),
        minVersion: 'TLSv1.2',
        lookup: sharedLookup,
        // `tls.connect` passes the signal to `net.Socket`, but the type of its options does not declare it.
        ...{ signal: sockets.signal },
        // `tls.connect` reads `socket` once for each of the two clients of a login. It opens a connection when
        // undefined.
        get socket() {
          return sockets.handOver(ready.shift());
        },
      },
    };
  }

  /**
   * Returns an IPv4 address, so that ldapjs does no look-up itself. Returns the name when there is no IPv4 address,
   * because ldapjs does not accept IPv6 literals.
   */
  private async address(): Promise<string> {
    const addresses = await addressesOf(this.host).catch((error: unknown) => Promise.reject(connectionFailure(error)));
    return addresses.find(({ family }) => family === 4)?.address ?? this.host;
  }

  /**
   * Opens a connection on which the server has agreed to TLS. ldapjs then starts TLS on it as for ldaps://, so it sends
   * nothing before the certificate is verified.
   */
  private async openForTls(sockets: LoginSockets): Promise<Socket> {
    const socket = await sockets.open(this.host, this.port);
    await startTls(socket);
    return socket;
  }
}
