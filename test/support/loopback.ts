import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server as HttpServer, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';

/** Lets the server listen on a free port of 127.0.0.1. @returns the port */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

export const urlOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`;

/** Rejects while nobody listens on the port. */
export async function reach(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}

/** Ends all connections, and closes the port. */
export async function shut(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}

/** Answers each request when its whole body has arrived. */
export const withBody =
  (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void): RequestListener =>
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('utf8')));
  };
