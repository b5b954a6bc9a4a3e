import { createServer, type Socket } from 'node:net';
import { listen } from './loopback';

export interface SilentServer {
  readonly port: number;
  readonly url: string;
  /** Connections since the start. */
  readonly accepted: () => number;
  readonly open: () => number;
  /** Ends all connections and closes the port. */
  readonly stop: () => void;
}

/** Starts a directory that accepts connections and never answers. */
export async function silentServer(): Promise<SilentServer> {
  let accepted = 0;
  const sockets = new Set<Socket>();
  // `allowHalfOpen`, so that a connection is still counted when its client has ended it but not closed it.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  const port = await listen(server);
  return {
    port,
    url: `ldap://127.0.0.1:${port}`,
    accepted: () => accepted,
    open: () => sockets.size,
    stop: () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

/** Returns the number of connections of this process to a port. */
export function openTo(port: number): number {
  const handles = (process as unknown as { _getActiveHandles(): { remotePort?: number }[] })._getActiveHandles();
  return handles.filter(({ remotePort }) => remotePort === port).length;
}
