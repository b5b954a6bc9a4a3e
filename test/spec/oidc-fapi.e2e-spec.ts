import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { type Answer, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import {
  askForTokens,
  callback,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
} from '../support/openid';

const portal = 'http://portal.test';
const issuer = `${portal}/oidc`;

/**
 * What the plan of the FAPI 2.0 security profile tests and the provider offers, named by the modules of the suite
 * (docs/spec/openid-conformance.md): pushed requests, PKCE, DPoP, and the issuer in each answer.
 */
describe('the FAPI 2.0 security profile, where it applies', () => {
  let service: TestService;
  let application: GivenApplication;
  let access: string;

  beforeAll(async () => {
    // The package judges proofs by the clock of this machine.
    service = await TestService.start(openIdSettings, { clock: new FakeClock(new Date()) });
    application = await givenApplication(service);
    await service.givenUser('ann');
  });
  beforeEach(async () => ({ access } = await service.session('ann')));
  afterAll(() => service.stop());

  const newVerifier = () => randomBytes(32).toString('base64url');
  const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
  const parameters = (verifier: string, more: Record<string, string> = {}) => {
    const all = {
      ...{ client_id: application.id, response_type: 'code', redirect_uri: callback, scope: 'openid' },
      ...{ state: 'a-state', nonce: 'a-nonce' },
      ...{ code_challenge: challengeOf(verifier), code_challenge_method: 'S256' },
      ...more,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  };
  const push = (form: Record<string, string>, headers: Record<string, string> = {}, one = application) =>
    postForm(service, '/oidc/request', one, form, headers);
  const open = (browser: OpenIdBrowser, request_uri: string, client_id = application.id) =>
    browser.follow(`${portal}/oidc/auth?${new URLSearchParams({ client_id, request_uri }).toString()}`);
  /** Goes on from the page of an interaction. */
  const finish = async (browser: OpenIdBrowser, page: URL, body = {}) => {
    const answer = await browser.finish(page.searchParams.get('interaction')!, access, body);
    return browser.follow(String(answer.body.data.redirect_to));
  };
  const oauthError = ({ status, body }: Answer) => [status, body.error as string];

  /** A whole sign-in with a pushed request. */
  async function pushed(more: Record<string, string> = {}, headers: Record<string, string> = {}) {
    const [browser, verifier] = [new OpenIdBrowser(service), newVerifier()];
    const { body } = await push(parameters(verifier, more), headers);
    return { url: await finish(browser, await open(browser, String(body.request_uri))), verifier };
  }

  function newKey() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const prove = async (path: string, claims: object = {}, key: KeyObject = privateKey) => ({
      dpop: await new SignJWT({ jti: randomUUID(), htm: 'POST', htu: `${issuer}${path}`, iat: seconds(), ...claims })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: await exportJWK(publicKey) })
        .sign(key),
    });
    return { prove, thumbprint: async () => calculateJwkThumbprint(await exportJWK(publicKey)) };
  }
  const seconds = () => Math.floor(Date.now() / 1000);

  describe('pushed requests', () => {
    it.each([
      ['HappyFlow', {}],
      ['EnsureAuthorizationRequestWithoutStateSuccess', { state: '' }],
      ['EnsureAuthorizationRequestWithoutNonceSuccess', { nonce: '' }],
      ['EnsureAuthorizationRequestWith64CharNonceSuccess', { nonce: 'n'.repeat(64) }],
      ['EnsureAuthorizationRequestWithLongNonce', { nonce: 'n'.repeat(384) }],
      ['EnsureAuthorizationRequestWithLongState', { state: 's'.repeat(384) }],
      ['EnsureOtherScopeOrderSucceeds', { scope: 'email openid' }],
    ] as [string, Record<string, string>][])('%s: the sign-in succeeds', async (_module, more) => {
      const authorization = await pushed(more);
      expect(authorization.url.searchParams.get('state')).toBe(more.state === '' ? null : (more.state ?? 'a-state'));
      expect((await exchange(service, application, authorization)).status).toBe(200);
    });

    it('UserRejectsAuthentication: access_denied, with state and issuer', async () => {
      const browser = new OpenIdBrowser(service);
      const { body } = await push(parameters(newVerifier()));
      const back = await finish(browser, await open(browser, String(body.request_uri)), { consent: false });
      const { error, state, iss } = Object.fromEntries(back.searchParams);
      expect([error, state, iss]).toEqual(['access_denied', 'a-state', issuer]);
    });

    it.each([
      ['PAREnsurePKCERequired', { code_challenge: '', code_challenge_method: '' }],
      ['PAREnsurePlainPKCERejected', { code_challenge_method: 'plain' }],
      ['PARRejectRequestUriInParAuthorizationFormParams', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
      ['EnsureResponseTypeTokenFails', { response_type: 'token' }],
      ['EnsureResponseTypeCodeIdTokenFails', { response_type: 'code id_token' }],
    ] as [string, Record<string, string>][])('T455 %s: the request is not taken', async (_module, more) => {
      const { status, body } = await push(parameters(newVerifier(), more));
      expect([status, 'request_uri' in body]).toEqual([400, false]);
    });

    it.each([
      ['PAREnsurePKCECodeVerifierRequired', ''],
      ['PARIncorrectPKCECodeVerifierRejected', 'w'.repeat(43)],
    ])('T455 %s: no tokens', async (_module, code_verifier) => {
      const { status, body } = await exchange(service, application, await pushed(), { code_verifier });
      expect([status, 'access_token' in body]).toEqual([400, false]);
    });

    it('T455 what was pushed counts: a challenge, a scope or an address beside request_uri changes nothing', async () => {
      const [browser, verifier] = [new OpenIdBrowser(service), newVerifier()];
      const { body } = await push(parameters(verifier));
      const attacker = newVerifier();
      const query = new URLSearchParams({
        client_id: application.id,
        request_uri: String(body.request_uri),
        code_challenge: challengeOf(attacker),
        redirect_uri: 'https://evil.example/',
        scope: 'openid email',
      });
      const page = await browser.follow(`${portal}/oidc/auth?${query.toString()}`);
      const back = page.searchParams.has('interaction') ? await finish(browser, page) : page;
      expect(`${back.origin}${back.pathname}`).toBe(callback);
      if (!back.searchParams.has('code')) return;
      const stolen = await exchange(service, application, { url: back, verifier: attacker });
      expect(oauthError(stolen)).toEqual([400, 'invalid_grant']);
    });

    it.each([
      ['at once', 0],
      ['when it has expired', 61],
    ])(
      'T456 PARAttemptReuseRequestUri: a request_uri is used once, also by two browsers that began before and end %s',
      async (_when, seconds) => {
        const [one, two, verifier] = [new OpenIdBrowser(service), new OpenIdBrowser(service), newVerifier()];
        const { body } = await push(parameters(verifier));
        const uri = String(body.request_uri);
        // PAREnsureServerAcceptsReusedRequestUriBeforeAuthenticationCompletion: a reload of the page works.
        await open(one, uri);
        const pages = [await open(one, uri), await open(two, uri)];
        service.clock.advanceSeconds(seconds);
        const first = await finish(one, pages[0]!);
        expect(first.searchParams.get('code')).toEqual(expect.any(String));
        const second = await finish(two, pages[1]!);
        expect(second.searchParams.get('code')).toBeNull();
        expect((await open(new OpenIdBrowser(service), uri)).searchParams.get('error')).toBe('invalid_request_uri');
      },
    );

    it('T456 PARAttemptToUseExpiredRequestUri, PAREnsureRequestUriIsBoundToClient: late, of another application or made up, it leads nowhere', async () => {
      const refused = async (uri: string, id = application.id) => {
        const query = new URLSearchParams({ client_id: id, request_uri: uri }).toString();
        const { headers, raw } = await new OpenIdBrowser(service).request('GET', `/oidc/auth?${query}`);
        const location = String(headers.location ?? '');
        expect(location + raw.toString()).toMatch(/invalid_request|request_uri_not_supported/);
        expect(location).not.toMatch(/interaction=|code=/);
      };
      const other = await givenApplication(service);
      const { body } = await push(parameters(newVerifier()));
      await refused(String(body.request_uri), other.id);
      await refused(`urn:ietf:params:oauth:request_uri:${randomBytes(32).toString('base64url')}`);
      await refused('https://evil.example/request.jwt');
      service.clock.advanceSeconds(61);
      await refused(String(body.request_uri));
    });

    it('PARRejectInvalidHttpVerb: GET, PUT and DELETE push nothing', async () => {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const { status } = await service.send(method, '/oidc/request', undefined, {});
        expect([method, status >= 400 && status < 500]).toEqual([method, true]);
      }
    });

    it('EnsureClientIdInTokenEndpoint: a pushed request without the secret of the application is not taken', async () => {
      const wrong = { ...application, secret: 'wrong' };
      expect(oauthError(await push(parameters(newVerifier()), {}, wrong))).toEqual([401, 'invalid_client']);
    });
  });

  describe('codes', () => {
    it('AttemptToUseExpiredAuthCode: a code lives for a minute', async () => {
      const authorization = await pushed();
      service.clock.advanceSeconds(61);
      expect(oauthError(await exchange(service, application, authorization))).toEqual([400, 'invalid_grant']);
    });

    it('EnsureAuthorizationCodeIsBoundToClient, AttemptReuseAuthorizationCodeAfterOneSecond: another application, and a second time', async () => {
      const authorization = await pushed();
      const other = await givenApplication(service);
      expect(oauthError(await exchange(service, other, authorization))).toEqual([400, 'invalid_grant']);
      expect((await exchange(service, application, authorization)).status).toBe(200);
      service.clock.advanceSeconds(1);
      expect(oauthError(await exchange(service, application, authorization))).toEqual([400, 'invalid_grant']);
    });
  });

  describe('mix-up (RFC 9207)', () => {
    it('T457 each answer names the issuer, also an error, so an application sends no code to another provider', async () => {
      const answers = [
        (await pushed()).url,
        (await new OpenIdBrowser(service).authorize(application, { prompt: 'none' })).url,
        (await new OpenIdBrowser(service).authorize(application, { code_challenge: '' })).url,
        (await new OpenIdBrowser(service).authorize(application, { scope: 'openid', response_type: 'token' })).url,
      ];
      for (const { searchParams, hash } of answers)
        expect(new URLSearchParams(hash.slice(1)).get('iss') ?? searchParams.get('iss')).toBe(issuer);
    });

    it('T457 a code of another provider with the same application is worth nothing', async () => {
      const elsewhere = await TestService.start({ ...openIdSettings, OIDC_ISSUER: `${portal}/elsewhere` });
      try {
        const same = await givenApplication(elsewhere, { id: application.id });
        await elsewhere.givenUser('ann');
        const session = await elsewhere.session('ann');
        const authorization = await new OpenIdBrowser(elsewhere, '/elsewhere').signIn(same, session.access);
        expect(authorization.url.searchParams.get('iss')).toBe(`${portal}/elsewhere`);
        expect(oauthError(await exchange(service, application, authorization))).toEqual([400, 'invalid_grant']);
      } finally {
        await elsewhere.stop();
      }
    });
  });

  describe('DPoP (RFC 9449)', () => {
    const token = async (authorization: { url: URL; verifier: string }, headers: Record<string, string>) => {
      const code = authorization.url.searchParams.get('code')!;
      const form = { grant_type: 'authorization_code', code, redirect_uri: callback };
      return askForTokens(service, application, { ...form, code_verifier: authorization.verifier }, headers);
    };

    it('EnsureDpopAuthCodeBindingSuccess, EnsureDpopProofAtParEndpointBindingSuccess: the code belongs to the key', async () => {
      const key = newKey();
      for (const authorization of [
        await pushed({ dpop_jkt: await key.thumbprint() }),
        await pushed({}, await key.prove('/request')),
      ]) {
        const { status, body } = await token(authorization, await key.prove('/token'));
        expect([status, body.token_type]).toEqual([200, 'DPoP']);
      }
    });

    it('EnsureTokenEndpointFailsWithMismatchedDpopJkt, EnsureTokenEndpointFailsWithMismatchedDpopProofJkt, EnsureMismatchedDpopJktFails', async () => {
      const [key, thief] = [newKey(), newKey()];
      for (const authorization of [
        await pushed({ dpop_jkt: await key.thumbprint() }),
        await pushed({}, await key.prove('/request')),
      ])
        expect(oauthError(await token(authorization, await thief.prove('/token')))).toEqual([400, 'invalid_grant']);
      const both = await push(
        parameters(newVerifier(), { dpop_jkt: await key.thumbprint() }),
        await thief.prove('/request'),
      );
      expect(oauthError(both)).toEqual([400, 'invalid_request']);
    });

    // The times are those of the test, not of the load of this file.
    it.each<[string, () => object]>([
      ['EnsureDpopProofWithIat10SecondsBeforeSucceeds', () => ({ iat: seconds() - 10 })],
      ['EnsureDpopProofWithIat10SecondsAfterSucceeds', () => ({ iat: seconds() + 10 })],
      ['CheckDpopProofNbfExp', () => ({ nbf: seconds() - 10, exp: seconds() + 3600 })],
    ])('%s', async (_module, claims) => {
      expect((await token(await pushed(), await newKey().prove('/token', claims()))).status).toBe(200);
    });

    it('DpopNegativeTests: another method, address, time, key or signature, and no identifier: invalid_dpop_proof, and a second use', async () => {
      const [key, other] = [newKey(), generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey];
      const wrong = [
        await key.prove('/token', { htm: 'GET' }),
        await key.prove('/request'),
        await key.prove('/token', { htu: 'https://evil.example/oidc/token' }),
        await key.prove('/token', { iat: seconds() - 3600 }),
        await key.prove('/token', { iat: seconds() + 3600 }),
        await key.prove('/token', { jti: undefined }),
        await key.prove('/token', {}, other),
        { dpop: 'nonsense' },
      ];
      const authorization = await pushed();
      for (const headers of wrong)
        expect(oauthError(await token(authorization, headers))).toEqual([400, 'invalid_dpop_proof']);
      const proof = await key.prove('/token');
      const { body } = await token(authorization, proof);
      expect(body.token_type).toBe('DPoP');
      // The answer of the package to a replay.
      expect(oauthError(await token(await pushed(), proof))).toEqual([400, 'invalid_grant']);
    });
  });
});
