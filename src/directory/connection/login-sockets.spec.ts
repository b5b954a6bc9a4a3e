import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { LoginSockets } from './login-sockets';

describe('the connections of a login', () => {
  it('one that is refused is reported as refused, and not as a silent server', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const refused = new LoginSockets().open('127.0.0.1', port);
    await expect(refused).rejects.toMatchObject({ reason: 'connection refused or lost', code: 'ECONNREFUSED' });
  });
});
