import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

import { TcpProxy } from '../support/servers/tcp-proxy';
import { staysSilent } from './silence';

describe('TcpProxy', () => {
  let echo: Server;
  let proxy: TcpProxy;
  const clients: Socket[] = [];

  beforeAll(async () => {
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
  });

  beforeEach(async () => {
    proxy = await TcpProxy.start((echo.address() as AddressInfo).port);
  });

  afterEach(async () => {
    clients.splice(0).forEach((client) => client.destroy());
    await proxy.stop();
  });

  afterAll(() => {
    echo.close();
  });

  function client(): Socket {
    const socket = connect(proxy.port, '127.0.0.1');
    clients.push(socket);
    return socket;
  }

  async function answer(socket: Socket, question: string): Promise<string> {
    socket.write(question);
    return String((await once(socket, 'data'))[0]);
  }

  it('forwards data in both directions, also on a half-closed connection', async () => {
    const socket = client();
    socket.end('goodbye');
    expect(await text(socket)).toBe('goodbye');
    expect(proxy.connectionCount).toBe(1);
  });

  it('delays data in both directions', async () => {
    proxy.setLatency(60);
    const began = performance.now();
    await answer(client(), 'hello');
    expect(performance.now() - began).toBeGreaterThan(115);
  });

  it('as a black hole, holds the data of open and new connections until it forwards again', async () => {
    const open = client();
    await answer(open, 'hello');
    proxy.blackhole();
    const [first, second] = [answer(open, 'still there?'), answer(client(), 'anybody?')];
    expect(await staysSilent(Promise.race([first, second]))).toBe(true);
    await proxy.forward();
    expect(await Promise.all([first, second])).toEqual(['still there?', 'anybody?']);
  });

  it('resets open connections and new ones', async () => {
    const open = client();
    await answer(open, 'hello');
    const broken = once(open, 'error');
    proxy.reset();
    expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect((await once(client(), 'error'))[0]).toMatchObject({ code: 'ECONNRESET' });
  });

  it('refuses connections, until it forwards again', async () => {
    await proxy.refuse();
    expect((await once(client(), 'error'))[0]).toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.forward();
    expect(await answer(client(), 'hello')).toBe('hello');
  });
});
