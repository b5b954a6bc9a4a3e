import { LoginSockets } from './login-sockets';

describe('the connections of a login', () => {
  it('one that is refused is reported as refused, and not as a silent server', async () => {
    const refused = new LoginSockets().open('127.0.0.1', 1);
    await expect(refused).rejects.toMatchObject({ reason: 'connection refused or lost', code: 'ECONNREFUSED' });
  });
});
