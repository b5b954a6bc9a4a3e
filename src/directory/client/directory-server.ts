import { isIP, type Socket } from 'node:net';
import type { LdapSettings } from '../ldap-settings';
import { addressesOf } from '../../platform/http/host-addresses';
import { LoginSockets } from '../connection/login-sockets';
import { startTls } from '../connection/start-tls';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import type { DirectoryPerson, Finding, Verdict } from '../person';
import { idAttributes } from './entry-values';
import { type PersonQuery, PersonSearch } from './person-search';
import { ServiceConnection } from './service-connection';
import { loginByStrategy, type StrategyServer } from './strategy-login';
import { verdictOf } from './strategy-verdict';

/** ldapjs requires a logger. Its lines contain DNs and the messages of the protocol. */
const silentLog: Record<string, () => unknown> = {
  child: () => silentLog,
  ...Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, () => undefined])),
};

/** One server of `LDAP_URL`. Each login has a time limit, and its connections are closed when the login ends. */
export class DirectoryServer {
  /** Protocol, host and port for the log, without any other part of the URL. */
  readonly label: string;
  private readonly host: string;
  private readonly port: number;
  private readonly tls: 'none' | 'starttls' | 'tls';

  constructor(
    url: string,
    private readonly config: LdapSettings,
  ) {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === 'ldaps:';
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = Number(port) || (secure ? 636 : 389);
    this.tls = secure ? 'tls' : config.startTls ? 'starttls' : 'none';
    this.label = `${protocol}//${hostname}:${this.port}`;
  }

  get isEncrypted(): boolean {
    return this.tls !== 'none';
  }

  /** @param budgetMs limits the look-up of the host, the connection, TLS, the bind and all searches. @throws DirectoryFailure */
  find(query: PersonQuery, budgetMs: number): Promise<Finding> {
    return this.search(budgetMs, (connection) => new PersonSearch(connection, this.config).find(query));
  }

  /** Runs searches as the service account, on one connection. @throws DirectoryFailure */
  search<T>(budgetMs: number, work: (connection: ServiceConnection) => Promise<T>): Promise<T> {
    return this.within(budgetMs, async (sockets) => {
      const { bindDn: dn, bindPassword: password, timeoutMs } = this.config;
      const transport = await this.transport(sockets, 1);
      const options = { ...transport, timeout: timeoutMs, connectTimeout: timeoutMs, log: silentLog };
      return work(await this.tracked(sockets, () => ServiceConnection.open(options, { dn, password })));
    });
  }

  /** @param budgetMs limits the look-up of the host, connections, TLS, two binds and the search. @throws DirectoryFailure */
  judge(person: Pick<DirectoryPerson, 'dn' | 'id'>, password: string, budgetMs: number): Promise<Verdict> {
    return this.within(budgetMs, async (sockets) => {
      const { config } = this;
      const server: StrategyServer = {
        ...(await this.transport(sockets, 2)),
        bindDN: config.bindDn,
        bindCredentials: config.bindPassword,
        searchBase: person.dn,
        searchScope: 'base',
        searchFilter: '(objectClass=*)',
        searchAttributes: Object.values(idAttributes),
        includeRaw: true,
        // Groups are not searched here. The default makes ldapjs ask for an attribute `dn`, which `checkedMessage` refuses.
        groupDnProperty: config.attributes.login,
        timeout: config.timeoutMs,
        connectTimeout: config.timeoutMs,
        // Strict parsing throws an error that no code catches, also for DNs that the directory accepts.
        strictDN: false,
      };
      return verdictOf(await this.tracked(sockets, () => loginByStrategy(server, password)), person.id);
    });
  }

  private async within<T>(budgetMs: number, work: (sockets: LoginSockets) => Promise<T>): Promise<T> {
    const sockets = new LoginSockets();
    let timer: NodeJS.Timeout | undefined;
    const timeOut = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DirectoryFailure('no answer in time')), budgetMs);
    });
    try {
      return await Promise.race([work(sockets), timeOut]);
    } finally {
      clearTimeout(timer);
      sockets.close();
    }
  }

  private tracked<T>(sockets: LoginSockets, work: () => Promise<T>): Promise<T> {
    return this.tls === 'none' ? sockets.during(work) : work();
  }

  /** @param clients how many clients of ldapjs will connect */
  private async transport(sockets: LoginSockets, clients: number): Promise<Pick<StrategyServer, 'url' | 'tlsOptions'>> {
    if (this.tls === 'none') return { url: `ldap://${await this.address()}:${this.port}` };
    const ready = await Promise.all(Array.from({ length: clients }, () => this.openForTls(sockets)));
    return {
      url: `ldaps://${isIP(this.host) === 6 ? `[${this.host}]` : this.host}:${this.port}`,
      tlsOptions: {
        ca: this.config.ca,
        // The certificate is checked against this name. An IP address is not allowed as server name indication.
        host: this.host,
        ...(isIP(this.host) === 0 ? { servername: this.host } : {}),
        minVersion: 'TLSv1.2',
        // `tls.connect` passes the signal to `net.Socket`, but the type of its options does not declare it.
        ...{ signal: sockets.signal },
        // `tls.connect` reads `socket` once for each client.
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
   * Opens a connection on which the server expects TLS. ldapjs then starts TLS on it as for ldaps://, so it sends
   * nothing before the certificate is verified. `tls.connect` must not open the connection itself: when data arrived
   * while such a connection was being closed, Node 20 ended the process ("Assertion failed: onread->IsFunction()").
   */
  private async openForTls(sockets: LoginSockets): Promise<Socket> {
    const socket = await sockets.open(this.host, this.port);
    if (this.tls === 'starttls') await startTls(socket);
    return socket;
  }
}
