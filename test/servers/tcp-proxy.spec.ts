import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

import { eventually } from '../support/servers/eventually';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { staysSilent } from './silence';

describe('TcpProxy', () => {
  let echo: Server;
  let proxy: TcpProxy;
  const clients: Socket[] = [];
  /** What the echo server has received in this test. */
  const received: string[] = [];

  beforeAll(async () => {
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data: Buffer) => received.push(String(data)));
      socket.pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
  });

  beforeEach(async () => {
    received.length = 0;
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

  it('loses the answer to a request that the server has got, and to no other one', async () => {
    proxy.loseAnswers('commit');
    const socket = client();
    expect(await answer(socket, 'update')).toBe('update');
    const broken = once(socket, 'error');
    socket.write('commit');
    expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(received.join('')).toBe('updatecommit');
    expect(proxy.lostAnswers).toBe(1);
    await proxy.forward();
    expect(await answer(client(), 'commit')).toBe('commit');
  });

  it('forwards one byte at a time, in order, until it forwards normally again', async () => {
    proxy.oneByteAtATime();
    const socket = client();
    const pieces: string[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(String(piece)));
    socket.write('slowly');
    await eventually(() => pieces.join('') === 'slowly', { what: 'all bytes arrive' });
    expect(pieces.length).toBeGreaterThan(1);
    await proxy.forward();
    socket.end(' and fast');
    await once(socket, 'end');
    expect(pieces.join('')).toBe('slowly and fast');
  });

  it('refuses connections, until it forwards again', async () => {
    await proxy.refuse();
    expect((await once(client(), 'error'))[0]).toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.forward();
    expect(await answer(client(), 'hello')).toBe('hello');
  });
});
