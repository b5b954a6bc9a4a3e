import * as openid from 'openid-client';
import { givenApplication, type GivenApplication } from '../support/openid';
import { OpenIdSite } from '../support/openid-site';
import { claimsOf } from '../support/openid';
import { WebBrowser } from '../support/web-browser';
import type { Application } from '../../src/applications/application.entity';

/** Nothing listens there: the tests take the code from the address. */
const redirectUri = 'https://app.example.com/callback';
const afterLogout = 'https://app.example.com/';
const resource = 'https://api.example.com/';

/** `openid-client`, which is certified as a relying party and which nobody here wrote, against the whole service. */
describe('openid-client as an application', () => {
  let site: OpenIdSite;
  let access: string;
  let uid: string;

  beforeAll(async () => {
    site = await OpenIdSite.start();
    ({ uid } = await site.service.givenUser('ann', { nickname: 'Ann' }));
    ({ access } = await site.service.session('ann'));
  });
  afterAll(() => site?.stop());

  /** Reads the discovery document, as a real application does. */
  async function relyingParty(more: Partial<Application> = {}): Promise<[openid.Configuration, GivenApplication]> {
    const application = await givenApplication(site.service, {
      redirectUris: [redirectUri],
      postLogoutRedirectUris: [afterLogout],
      ...more,
    });
    const { id, secret } = application;
    const authentication = secret === undefined ? openid.None() : openid.ClientSecretBasic(secret);
    const options = { execute: [openid.allowInsecureRequests] };
    const configuration = await openid.discovery(new URL(site.issuer), id, undefined, authentication, options);
    return [configuration, application];
  }

  interface Flow {
    readonly parameters?: Record<string, string>;
    readonly pushed?: boolean;
    readonly dpop?: openid.DPoPHandle;
    readonly browser?: WebBrowser;
    readonly consent?: boolean;
  }

  /** The whole code flow, with all checks that the library makes: state, nonce, iss, PKCE, the ID token. */
  async function signIn(rp: openid.Configuration, { parameters, pushed, dpop, browser, consent }: Flow = {}) {
    const verifier = openid.randomPKCECodeVerifier();
    const [state, nonce] = [openid.randomState(), openid.randomNonce()];
    const asked = {
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...{ state, nonce },
      ...parameters,
    };
    const url = pushed
      ? await openid.buildAuthorizationUrlWithPAR(rp, asked, { DPoP: dpop })
      : openid.buildAuthorizationUrl(rp, asked);
    const back = await site.signInAt(browser ?? new WebBrowser(), url, access, { redirectUri, consent });
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const more = parameters?.resource === undefined ? undefined : { resource: parameters.resource };
    const tokens = await openid.authorizationCodeGrant(rp, back.url, checks, more, { DPoP: dpop });
    return { url, back, tokens };
  }

  it('reads the discovery document and the keys, and takes the ID token of a code flow with PKCE', async () => {
    const [rp, { id }] = await relyingParty();
    expect(rp.serverMetadata().issuer).toBe(site.issuer);
    expect(rp.serverMetadata().supportsPKCE()).toBe(true);
    const { tokens } = await signIn(rp);
    expect(tokens.claims()).toMatchObject({
      iss: site.issuer,
      aud: id,
      sub: uid,
      sid: claimsOf(access).sid,
      acr: 'urn:portal:acr:1',
      amr: ['pwd'],
      auth_time: claimsOf(access).auth_time,
    });
  });

  it('reads the user at the userinfo endpoint, as the scopes allow', async () => {
    const [rp] = await relyingParty();
    const { tokens } = await signIn(rp);
    const user = await openid.fetchUserInfo(rp, tokens.access_token, uid);
    expect(user).toEqual({
      sub: uid,
      name: 'Ann',
      preferred_username: 'ann',
      email: 'ann@example.com',
      email_verified: false,
    });
    const { tokens: fewer } = await signIn(rp, { parameters: { scope: 'openid' } });
    expect(await openid.fetchUserInfo(rp, fewer.access_token, uid)).toEqual({ sub: uid });
  });

  it('refreshes with rotation, and the reuse of a refresh token ends the grant', async () => {
    const [rp] = await relyingParty();
    const { tokens } = await signIn(rp);
    const next = await openid.refreshTokenGrant(rp, tokens.refresh_token!);
    expect(next.refresh_token).not.toBe(tokens.refresh_token);
    expect(next.claims()?.sub).toBe(uid);
    await expect(openid.refreshTokenGrant(rp, tokens.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(openid.refreshTokenGrant(rp, next.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(openid.fetchUserInfo(rp, next.access_token, uid)).rejects.toMatchObject({ status: 401 });
  });

  it('pushes its request (RFC 9126), and the request is used once', async () => {
    const [rp] = await relyingParty();
    const { url, tokens } = await signIn(rp, { pushed: true });
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    expect(tokens.claims()?.sub).toBe(uid);
  });

  it('signs a device in (RFC 8628): the user allows it in a browser, and the device gets tokens', async () => {
    const [rp] = await relyingParty({ type: 'native', redirectUris: ['http://127.0.0.1/callback'] });
    const device = await openid.initiateDeviceAuthorization(rp, { scope: 'openid profile' });
    expect(new URL(device.verification_uri_complete!).searchParams.get('user_code')).toBe(device.user_code);
    const page = await site.signInAt(new WebBrowser(), device.verification_uri_complete!, access, { consent: true });
    expect(page.url.href).toContain(`${site.url}/device`);
    const tokens = await openid.pollDeviceAuthorizationGrant(rp, { ...device, interval: 0.01 });
    expect(tokens.claims()).toMatchObject({ sub: uid });
  });

  it('signs a program in with client credentials, for the resources that it may ask', async () => {
    const [rp] = await relyingParty({ type: 'service', audience: [resource], scopes: ['orders:read'] });
    const tokens = await openid.clientCredentialsGrant(rp, { resource, scope: 'orders:read' });
    expect(claimsOf(tokens.access_token)).toMatchObject({ iss: site.issuer, aud: resource, scope: 'orders:read' });
    expect(tokens.refresh_token).toBeUndefined();
    const other = openid.clientCredentialsGrant(rp, { resource: 'https://other.example.com/' });
    await expect(other).rejects.toMatchObject({ error: 'invalid_target' });
  });

  it('gets a JWT access token for a resource (RFC 8707, RFC 9068)', async () => {
    const [rp] = await relyingParty({ audience: [resource], scopes: ['openid', 'orders:read'] });
    const { tokens } = await signIn(rp, { parameters: { scope: 'openid orders:read', resource } });
    expect(claimsOf(tokens.access_token)).toMatchObject({ aud: resource, sub: uid, scope: 'orders:read' });
  });

  it('binds its tokens to a key (RFC 9449): another key gets nothing', async () => {
    const [rp] = await relyingParty();
    const dpop = openid.getDPoPHandle(rp, await openid.randomDPoPKeyPair('ES256'));
    const { tokens } = await signIn(rp, { dpop });
    expect(tokens.token_type).toBe('dpop');
    expect(await openid.fetchUserInfo(rp, tokens.access_token, uid, { DPoP: dpop })).toMatchObject({ sub: uid });
    await expect(openid.fetchUserInfo(rp, tokens.access_token, uid)).rejects.toThrow();
    const thief = openid.getDPoPHandle(rp, await openid.randomDPoPKeyPair('ES256'));
    await expect(openid.fetchUserInfo(rp, tokens.access_token, uid, { DPoP: thief })).rejects.toThrow();
    const next = await openid.refreshTokenGrant(rp, tokens.refresh_token!, undefined, { DPoP: dpop });
    expect(next.token_type).toBe('dpop');
  });

  it('asks for the session to be confirmed with max_age and acr_values, and gets login_required with prompt=none', async () => {
    const [rp] = await relyingParty();
    const none = signIn(rp, { parameters: { prompt: 'none' } });
    await expect(none).rejects.toMatchObject({ error: 'login_required' });
    const browser = new WebBrowser();
    await signIn(rp, { browser });
    expect((await signIn(rp, { browser, parameters: { prompt: 'none' } })).tokens.claims()?.sub).toBe(uid);
    const stronger = signIn(rp, { browser, parameters: { prompt: 'none', acr_values: 'urn:portal:acr:2' } });
    await expect(stronger).rejects.toMatchObject({ error: 'login_required' });
  });

  it('introspects and revokes its tokens', async () => {
    const [rp] = await relyingParty();
    const { tokens } = await signIn(rp);
    expect(await openid.tokenIntrospection(rp, tokens.access_token)).toMatchObject({ active: true, sub: uid });
    await openid.tokenRevocation(rp, tokens.refresh_token!);
    await expect(openid.refreshTokenGrant(rp, tokens.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(await openid.tokenIntrospection(rp, tokens.refresh_token!)).toEqual({ active: false });
  });

  it('signs the user out (RP-initiated logout), and everything of the session ends', async () => {
    const [rp] = await relyingParty();
    await site.service.givenUser('bea');
    const mine = access;
    try {
      const bea = await site.service.session('bea');
      access = bea.access;
      const browser = new WebBrowser();
      const { tokens } = await signIn(rp, { browser });
      const url = openid.buildEndSessionUrl(rp, {
        id_token_hint: tokens.id_token!,
        post_logout_redirect_uri: afterLogout,
        state: 'gone',
      });
      const page = await browser.go(url, ({ href }) => href.startsWith(afterLogout));
      expect(page.url.href).toBe(`${afterLogout}?state=gone`);
      await expect(openid.refreshTokenGrant(rp, tokens.refresh_token!)).rejects.toMatchObject({
        error: 'invalid_grant',
      });
      expect((await site.service.get('/user/me', { bearer: bea.access })).status).toBe(401);
      const again = signIn(rp, { browser, parameters: { prompt: 'none' } });
      await expect(again).rejects.toMatchObject({ error: 'login_required' });
    } finally {
      access = mine;
    }
  });
});
