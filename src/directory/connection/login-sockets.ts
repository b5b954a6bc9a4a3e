import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import { sharedLookup } from './host-addresses';

const owners = new AsyncLocalStorage<LoginSockets>();
let noticing = false;

/**
 * The connections of one login, all of which end with it. The library opens two and, where the directory falls silent,
 * keeps them until the operating system gives up a quarter of an hour later (measured, ADR 0010): so whatever was opened
 * for a login, here or by the library, is known here and destroyed by `close`.
 */
export class LoginSockets {
  private readonly sockets = new Set<Socket>();
  private readonly ending = new AbortController();

  /** For TLS connections: they have to go from the top, or Node tells of their end before it tells of the error. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @throws DirectoryFailure when nobody listens or the login has ended. */
  open(host: string, port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, lookup: sharedLookup, noDelay: true });
      this.own(socket);
      socket.once('connect', () => resolve(socket));
      socket.once('error', (error) => reject(connectionFailure(error)));
      socket.once('close', () => reject(new DirectoryFailure('no answer in time')));
    });
  }

  /** From here on a TLS connection with `signal` has the socket, and closes it. */
  handOver(socket: Socket | undefined): Socket | undefined {
    if (socket !== undefined) this.sockets.delete(socket);
    return socket;
  }

  /** Runs work that opens connections of its own by `net.connect`, which takes no signal from there. */
  during<T>(work: () => T): T {
    if (!noticing) subscribe('net.client.socket', (message) => noticed((message as { socket: Socket }).socket));
    noticing = true;
    return owners.run(this, work);
  }

  close(): void {
    this.ending.abort();
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  own(socket: Socket): void {
    // An error may still come when nobody of the library listens any more; without a listener it would end the process.
    socket.on('error', () => undefined);
    this.sockets.add(socket);
    // Told of before it connects; destroying it is possible only after.
    if (this.ending.signal.aborted) setImmediate(() => socket.destroy());
  }
}

function noticed(socket: Socket): void {
  owners.getStore()?.own(socket);
}
