import { decodeJwt } from 'jose';
import { dataOf, PasskeyClient } from '../support/passkeys';

describe('a login with a passkey', () => {
  let client: PasskeyClient;
  beforeAll(async () => {
    client = await PasskeyClient.start();
  });
  afterAll(() => client.service.stop());

  it.each([
    ['ES256', 'none'],
    ['ES256', 'packed'],
    ['RS256', 'none'],
    ['RS256', 'packed'],
  ] as const)('opens a session with both factors: %s, attestation %s', async (algorithm, attestation) => {
    const { user, authenticator } = await client.givenPasskey(undefined, { algorithm, attestation });
    const { data } = dataOf(await client.logIn(authenticator));
    expect(data).toMatchObject({ user_info: { uid: user.uid }, mfa_required: false, change_password: false });
    expect(decodeJwt(data.access_token as string)).toMatchObject({ sub: user.uid, amr: ['hwk', 'user', 'mfa'] });
  });
});
