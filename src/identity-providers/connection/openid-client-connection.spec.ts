import { generateKeyPairSync } from 'node:crypto';
import { FakeClock } from '../../../test/support/fakes';
import { Configurations } from './configurations';
import { LogoutTokens } from './logout-tokens';
import { OpenIdClientConnection } from './openid-client-connection';
import type { ProviderFetch } from './provider-fetch';

const issuer = 'https://idp.example.com';
const client = { issuer, clientId: 'portal', clientSecret: 'secret' };
const redirectUri = 'https://login.example.com/login/external/acme/callback';
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

describe('the connection to an identity provider', () => {
  let clock: FakeClock;
  let document: Record<string, unknown>;
  /** The answer of the token endpoint. */
  let token: { readonly error: string };
  let asked: string[];
  let connection: OpenIdClientConnection;

  beforeEach(() => {
    clock = new FakeClock();
    asked = [];
    document = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
    };
    const answers: Record<string, () => Response> = {
      '/.well-known/openid-configuration': () => Response.json(document),
      '/keys': () => Response.json({ keys: [publicKey.export({ format: 'jwk' })] }),
      '/token': () => Response.json(token, { status: 400 }),
    };
    const send = (url: string) => {
      const { pathname } = new URL(url);
      asked.push(pathname);
      return Promise.resolve(answers[pathname]!());
    };
    const fetch = { send } as Partial<ProviderFetch> as ProviderFetch;
    connection = new OpenIdClientConnection(new Configurations(fetch, clock), new LogoutTokens(fetch, clock));
  });

  it.each(['invalid_client', 'unauthorized_client'])(
    'tells an administrator that the provider does not accept the client when it says %s',
    async (error) => {
      token = { error };
      expect(await connection.acceptsClient(client, redirectUri)).toBe(false);
    },
  );

  it('a provider that refuses only the code accepts the client, and any other answer leaves it open', async () => {
    token = { error: 'invalid_grant' };
    expect(await connection.acceptsClient(client, redirectUri)).toBe(true);
    token = { error: 'invalid_request' };
    await expect(connection.acceptsClient(client, redirectUri)).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])('a document with backchannel_logout_supported %s: the end of sessions is told: %s', async (supported, tells) => {
    document.backchannel_logout_supported = supported;
    expect((await connection.discover(client)).tellsLogout).toBe(tells);
  });

  it('the discovery document is asked for once in ten minutes, and a change counts then', async () => {
    token = { error: 'invalid_grant' };
    const ask = () => connection.acceptsClient(client, redirectUri);
    await ask();
    clock.advanceSeconds(599);
    await ask();
    expect(asked.filter((path) => path !== '/token')).toHaveLength(1);
    clock.advanceSeconds(1);
    document.issuer = 'https://another.example.com';
    await expect(ask()).rejects.toMatchObject({ name: expect.stringMatching(/^Provider/) as string });
    expect(asked.filter((path) => path !== '/token')).toHaveLength(2);
  });
});
