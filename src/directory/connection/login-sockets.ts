import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import { sharedLookup } from '../../platform/http/host-addresses';

const owners = new AsyncLocalStorage<LoginSockets>();
let subscribed = false;

/**
 * The connections of one login. `close` destroys all of them, also those that ldapjs opened. ldapjs opens two
 * connections. If the directory stops answering, ldapjs keeps them until the operating system gives up after a quarter
 * of an hour (ADR 0010).
 */
export class LoginSockets {
  private readonly sockets = new Set<Socket>();
  private readonly ending = new AbortController();

  /**
   * Aborts when the login ends, which closes its TLS connections. Destroying only the TCP socket of a TLS connection
   * would emit an unhandled error.
   */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @throws DirectoryFailure when the connection fails or the login has ended */
  open(host: string, port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, lookup: sharedLookup, noDelay: true });
      this.own(socket);
      socket.once('connect', () => resolve(socket));
      socket.once('error', (error) => reject(connectionFailure(error)));
      socket.once('close', () => reject(new DirectoryFailure('no answer in time')));
    });
  }

  /** Stops tracking a socket, because a TLS connection that was made with `signal` now closes it. */
  handOver(socket: Socket | undefined): Socket | undefined {
    if (socket !== undefined) this.sockets.delete(socket);
    return socket;
  }

  /** Runs work of ldapjs, which opens connections by `net.connect` and cannot pass a signal to it. */
  during<T>(work: () => T): T {
    if (!subscribed) subscribe('net.client.socket', (message) => adopt((message as { socket: Socket }).socket));
    subscribed = true;
    return owners.run(this, work);
  }

  close(): void {
    this.ending.abort();
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  own(socket: Socket): void {
    // ldapjs removes its listeners before the last error can occur. An error event without a listener ends the process.
    socket.on('error', () => undefined);
    this.sockets.add(socket);
    // The diagnostics channel reports a socket before it connects. The socket can be destroyed only after this report.
    if (this.ending.signal.aborted) setImmediate(() => socket.destroy());
  }
}

function adopt(socket: Socket): void {
  owners.getStore()?.own(socket);
}
