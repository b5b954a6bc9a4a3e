import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { startTls } from './start-tls';

const success = '300c02010178070a010004000400';
/** Active Directory writes lengths in four bytes and includes the name of the extension. */
const activeDirectory =
  '30840000002802010178840000001f0a010004000400' + '8a16' + Buffer.from('1.3.6.1.4.1.1466.20037').toString('hex');

describe('StartTLS (RFC 4511 §4.14)', () => {
  let server: Server;
  let client: Socket;
  let peer: Socket;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as { port: number }).port, '127.0.0.1');
    [peer] = (await once(server, 'connection')) as [Socket];
    peer.on('error', () => undefined);
  });

  afterEach(() => {
    client.destroy();
    peer.destroy();
    server.close();
  });

  async function answered(...pieces: string[]): Promise<string> {
    const asked = startTls(client).then(
      () => 'agreed',
      (error: Error) => error.message,
    );
    await once(peer, 'data');
    for (const piece of pieces) await new Promise((sent) => peer.write(Buffer.from(piece, 'hex'), sent));
    return asked;
  }

  it('sends the OID of StartTLS', async () => {
    const asked = startTls(client);
    const [request] = (await once(peer, 'data')) as [Buffer];
    expect(request.toString('hex')).toBe(`301d02010177188016${Buffer.from('1.3.6.1.4.1.1466.20037').toString('hex')}`);
    peer.write(Buffer.from(success, 'hex'));
    await asked;
    expect(client.listenerCount('data')).toBe(0);
  });

  it.each([
    ['in the short form of lengths', success],
    ['in the form of Active Directory', activeDirectory],
  ])('accepts success %s', async (_how, answer) => {
    expect(await answered(answer)).toBe('agreed');
  });

  it('joins an answer that arrives in several pieces', async () => {
    expect(await answered(...activeDirectory.match(/.{2,14}/g)!)).toBe('agreed');
  });

  it.each([
    ['a refusal', '300c02010178070a010204000400', 'StartTLS refused (2)'],
    ['the result "unavailable"', '300c02010178070a013404000400', 'StartTLS refused (52)'],
    ['an answer of another kind', '300c02010161070a010004000400', 'StartTLS refused (0)'],
    ['an answer without a result', '30050201017800', 'StartTLS refused'],
    ['further bytes after the answer and before TLS', `${success}300c02010161070a010004000400`, 'StartTLS refused'],
    ['an endless message', '3084ffffffff', 'StartTLS refused'],
    ['an indefinite length', '3080', 'StartTLS refused'],
    ['HTTP', Buffer.from('HTTP/1.1 400\r\n\r\n').toString('hex'), 'StartTLS refused'],
  ])('fails on %s', async (_what, answer, message) => {
    expect(await answered(answer)).toBe(message);
  });

  it('fails when the connection is lost', async () => {
    const asked = startTls(client);
    await once(peer, 'data');
    peer.destroy();
    await expect(asked).rejects.toThrow('connection refused or lost');
  });
});
