import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RawConnection, request } from '../../../test/support/raw-http';
import { ClientGone } from '../../shared/errors/client-gone';
import { connectionSignal } from './connection-signal';

describe('the signal of a connection', () => {
  let server: Server;
  let client: RawConnection;
  const taken: { signal: AbortSignal; response: ServerResponse }[] = [];

  beforeEach(async () => {
    taken.length = 0;
    server = createServer((message: IncomingMessage, response: ServerResponse) => {
      taken.push({ signal: connectionSignal(message.socket), response });
      server.emit('taken');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = await RawConnection.open((server.address() as AddressInfo).port);
  });

  afterEach(async () => {
    await client.end();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = async (times = 1) => {
    const wanted = taken.length + times;
    client.send(request('GET', '/').repeat(times));
    while (taken.length < wanted) await once(server, 'taken');
  };
  const fired = (signal: AbortSignal) => (signal.aborted ? Promise.resolve() : once(signal, 'abort'));

  it('does not abort when an answer ends, and is the same for the next request of the connection', async () => {
    await ask();
    taken[0]!.response.end('first');
    await client.answers(1);
    await ask();
    expect(taken[1]!.signal).toBe(taken[0]!.signal);
    expect(taken[1]!.signal.aborted).toBe(false);
  });

  it.each([
    ['closes it', () => client.end()],
    ['resets it', () => client.reset()],
    ['ends its own side of it', () => Promise.resolve(client.finish())],
  ])('aborts for all pipelined requests of the connection when the client %s', async (_how, leave) => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    await ask(20);
    for (const { signal } of taken) signal.addEventListener('abort', () => undefined);
    await leave();
    await Promise.all(taken.map(({ signal }) => fired(signal)));
    expect(new Set(taken.map(({ signal }) => signal.reason as unknown))).toEqual(new Set([expect.any(ClientGone)]));
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  it('is already aborted for a connection that has been closed', async () => {
    const closed = new Promise<AbortSignal>((resolve) => {
      server.once('connection', (socket) => socket.once('close', () => resolve(connectionSignal(socket))));
    });
    const other = await RawConnection.open((server.address() as AddressInfo).port);
    await other.reset();
    expect((await closed).reason).toBeInstanceOf(ClientGone);
  });
});
