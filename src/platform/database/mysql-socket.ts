import { connect, isIP, type Socket } from 'node:net';

/** In milliseconds. A connection that a firewall has dropped is noticed before it is used. */
export const keepAliveInitialDelay = 10_000;

/**
 * For a server that is named by its IP address and whose identity is verified: opens the connection instead of mysql2.
 * mysql2 gives TLS no name there, because SNI has none for an address. Node then compares the certificate with `_host` of
 * the socket, which it sets for host names only, and otherwise with `localhost`. It would accept a certificate for
 * `localhost`, and refuse one for the address.
 */
export function verifiableSocket(host: string, port: number): (() => Socket) | undefined {
  if (isIP(host) === 0) return undefined;
  return () =>
    Object.assign(connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay }), { _host: host });
}
