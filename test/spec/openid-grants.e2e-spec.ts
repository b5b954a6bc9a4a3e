import { createHash } from 'node:crypto';
import { TestService } from '../support/app';
import {
  askForTokens,
  callback,
  claimsOf,
  exchange,
  givenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
  proofs,
} from '../support/openid';
import { retentionOf } from '../support/retention';

/** docs/spec/extensions.md#j */
describe('what an application may ask for', () => {
  let service: TestService;
  beforeAll(async () => (service = await TestService.start(openIdSettings)));
  afterAll(() => service.stop());

  async function signedIn(name: string, more: Record<string, string> = {}, application = givenApplication(service)) {
    const user = await service.givenUser(name);
    const { access } = await service.session(name);
    const browser = new OpenIdBrowser(service);
    const given = await application;
    const authorization = await browser.signIn(given, access, more);
    return { user, access, browser, application: given, authorization };
  }

  it('an access token for a resource is a JWT for this resource alone, and only where the application may ask', async () => {
    const application = givenApplication(service, {
      audience: ['https://api.example.com'],
      scopes: ['openid', 'orders:read'],
    });
    const resource = { resource: 'https://api.example.com', scope: 'openid orders:read' };
    const { user, authorization, application: given } = await signedIn('rosa', resource, application);
    const { status, body } = await exchange(service, given, authorization);
    expect(status).toBe(200);
    expect(claimsOf(body.access_token as string)).toMatchObject({
      iss: 'http://portal.test/oidc',
      aud: 'https://api.example.com',
      sub: user.uid,
      client_id: given.id,
      scope: 'orders:read',
    });
    const { url } = await new OpenIdBrowser(service).authorize(given, {
      ...resource,
      resource: 'https://other.example.com',
    });
    expect(url.searchParams.get('error')).toBe('invalid_target');
  });

  it('a request for a wrong resource uses up neither the code nor the refresh token, and is no theft', async () => {
    const [first, second] = ['https://first.example.com', 'https://second.example.com'] as const;
    const given = { audience: [first, second], scopes: ['openid', 'orders:read'] };
    const more = { resource: first, scope: 'openid orders:read' };
    const { user, authorization, application } = await signedIn('ruth', more, givenApplication(service, given));
    expect((await exchange(service, application, authorization, { resource: second })).body.error).toBe(
      'invalid_target',
    );
    const { status, body } = await exchange(service, application, authorization);
    expect(status).toBe(200);

    const refresh = (resource?: string) =>
      askForTokens(service, application, {
        ...{ grant_type: 'refresh_token', refresh_token: body.refresh_token as string },
        ...(resource === undefined ? {} : { resource }),
      });
    const setAudience = (audience: readonly string[]) =>
      service.database.affected('UPDATE applications SET audience = ? WHERE id = ?', [
        JSON.stringify(audience),
        application.id,
      ]);
    expect((await refresh(second)).body.error).toBe('invalid_target');
    await setAudience([second]);
    expect((await refresh()).body.error).toBe('invalid_target');
    await setAudience([first]);
    expect((await refresh()).status).toBe(200);
    expect((await refresh()).body.error).toBe('invalid_grant');
    expect(await service.count('audit_logs', "event = 'APPLICATION_TOKEN_REUSED' AND user_id = ?", [user.uid])).toBe(1);
  });

  it('a service gets a token of its own with its secret, and with no other', async () => {
    const application = await givenApplication(service, {
      type: 'service',
      redirectUris: [],
      audience: ['https://api.example.com'],
      scopes: ['orders:read'],
    });
    const form = { grant_type: 'client_credentials', resource: 'https://api.example.com', scope: 'orders:read' };
    const { status, body } = await askForTokens(service, application, form);
    expect([status, body]).toEqual([200, expect.anything()]);
    expect([status, claimsOf(body.access_token as string)]).toEqual([
      200,
      expect.objectContaining({ sub: application.id, aud: 'https://api.example.com', scope: 'orders:read' }),
    ]);
    const wrong = await askForTokens(service, { ...application, secret: 'wrong' }, form);
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
  });

  it('the answer to a service tells its scopes, also where it has got none of those that it asked for (RFC 6749 §5.1)', async () => {
    const resource = 'https://api.example.com';
    const application = await givenApplication(service, {
      ...{ type: 'service', redirectUris: [], audience: [resource], scopes: ['orders:read'] },
    });
    const scopeOf = async (more: Record<string, string>) => {
      const { body } = await askForTokens(service, application, { grant_type: 'client_credentials', ...more });
      const token = body.access_token as string;
      const { scope } = token.includes('.')
        ? claimsOf(token)
        : (await postForm(service, '/oidc/token/introspection', application, { token })).body;
      return [body.scope, scope ?? ''];
    };
    expect(await scopeOf({ resource, scope: 'orders:read orders:write' })).toEqual(['orders:read', 'orders:read']);
    expect(await scopeOf({ resource, scope: 'orders:write' })).toEqual(['', '']);
    // The scopes of a resource are for tokens of this resource.
    expect(await scopeOf({ scope: 'orders:read' })).toEqual(['', '']);
    // No service has a scope about users.
    expect(await scopeOf({ scope: 'openid profile' })).toEqual(['', '']);
    // Nothing was asked for, so there is nothing to tell.
    expect(await scopeOf({ resource })).toEqual([undefined, '']);
    expect(await scopeOf({})).toEqual([undefined, '']);
  });

  it('the former secret works until its end, and a disabled application is unknown at once', async () => {
    const application = await givenApplication(service, { type: 'service', redirectUris: [], scopes: [] });
    const { id } = application;
    await service.database.affected(
      'UPDATE applications SET old_secret_hash = secret_hash, secret_hash = ?, old_secret_expires = ? WHERE id = ?',
      ['0'.repeat(64), service.clock.secondsFromNow(60), id],
    );
    const ask = async () => (await askForTokens(service, application, { grant_type: 'client_credentials' })).status;
    expect(await ask()).toBe(200);
    service.clock.advanceSeconds(60);
    expect(await ask()).toBe(401);
    await service.database.affected('UPDATE applications SET old_secret_expires = ? WHERE id = ?', [
      service.clock.secondsFromNow(60),
      id,
    ]);
    expect(await ask()).toBe(200);
    await service.database.affected('UPDATE applications SET enabled = 0 WHERE id = ?', [id]);
    expect(await ask()).toBe(401);
  });

  it('T485 a pushed request is used once', async () => {
    await service.givenUser('paul');
    const { access } = await service.session('paul');
    const application = await givenApplication(service);
    const challenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');
    const pushed = await postForm(service, '/oidc/request', application, {
      client_id: application.id,
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    expect(pushed.body).toEqual({ request_uri: expect.any(String), expires_in: 60 });
    const browser = new OpenIdBrowser(service);
    const open = () =>
      browser.follow(
        `http://portal.test/oidc/auth?${new URLSearchParams({ client_id: application.id, request_uri: pushed.body.request_uri as string }).toString()}`,
      );
    const page = await open();
    const { body } = await browser.finish(page.searchParams.get('interaction')!, access);
    const back = await browser.follow(body.data.redirect_to as string);
    const tokens = await exchange(service, application, { url: back, verifier: 'v'.repeat(43) });
    expect(tokens.status).toBe(200);
    expect((await open()).searchParams.get('error')).toBe('invalid_request_uri');
  });

  it('a device gets tokens after its user has said yes, once, and expired_token when nobody has in time', async () => {
    const user = await service.givenUser('dora');
    const { access } = await service.session('dora');
    const application = await givenApplication(service, { type: 'native', redirectUris: [], scopes: ['openid'] });
    const { body: begun } = await postForm(service, '/oidc/device/auth', application, { scope: 'openid' });
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun.device_code as string,
    };
    const ask = () => askForTokens(service, application, form);
    expect((await ask()).body.error).toBe('authorization_pending');
    const browser = new OpenIdBrowser(service);
    const typed = await browser.request('GET', `/oidc/device?user_code=${begun.user_code}`);
    const confirmed = await browser.submit(await browser.submit(typed));
    const page = new URL(String(confirmed.headers.location));
    const interaction = page.searchParams.get('interaction')!;
    expect((await browser.describe(interaction, access)).body.data.consent).toBe(true);
    expect((await browser.finish(interaction, access)).body.error_code).toBe('APP_400001');
    const { body } = await browser.finish(interaction, access, { consent: true });
    expect((await browser.follow(body.data.redirect_to as string)).href).toBe('http://portal.test/device?state=done');
    const tokens = await ask();
    expect([tokens.status, claimsOf(tokens.body.id_token as string)]).toEqual([
      200,
      expect.objectContaining({ sub: user.uid, sid: claimsOf(access).sid }),
    ]);
    expect((await ask()).body.error).toBe('invalid_grant');
    const wrong = await new OpenIdBrowser(service).follow('http://portal.test/oidc/device');
    expect(wrong.href).toBe('http://portal.test/device');

    const { body: late } = await postForm(service, '/oidc/device/auth', application, { scope: 'openid' });
    service.clock.advanceSeconds(601);
    const tooLate = { ...form, device_code: late.device_code as string };
    expect((await askForTokens(service, application, tooLate)).body.error).toBe('expired_token');
    const unknown = { ...form, device_code: 'unknown' };
    expect((await askForTokens(service, application, unknown)).body.error).toBe('invalid_grant');
  });

  it('a device whose user refuses gets access_denied although its resource is gone, and expired_token when the refusal comes late', async () => {
    await service.givenUser('nora');
    const { access } = await service.session('nora');
    const [former, other] = ['https://first.example.com', 'https://second.example.com'] as const;
    const application = await givenApplication(service, {
      ...{ type: 'native', redirectUris: [], scopes: ['openid'], audience: [former] },
    });
    const begin = async () => {
      const { body } = await postForm(service, '/oidc/device/auth', application, { scope: 'openid', resource: former });
      const browser = new OpenIdBrowser(service);
      const typed = await browser.request('GET', `/oidc/device?user_code=${body.user_code}`);
      const confirmed = await browser.submit(await browser.submit(typed));
      const interaction = new URL(String(confirmed.headers.location)).searchParams.get('interaction')!;
      const refuse = async () => {
        const answer = await browser.finish(interaction, access, { consent: false });
        await browser.follow(answer.body.data.redirect_to as string);
      };
      const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
      const form = { grant_type, device_code: body.device_code as string };
      return { refuse, ask: () => askForTokens(service, application, form) };
    };
    const [soon, late] = [await begin(), await begin()];
    await soon.refuse();
    await service.database.affected('UPDATE applications SET audience = ? WHERE id = ?', [
      JSON.stringify([other]),
      application.id,
    ]);
    expect((await soon.ask()).body.error).toBe('access_denied');
    service.clock.advanceSeconds(601);
    await late.refuse();
    await retentionOf(service).purge();
    expect((await late.ask()).body.error).toBe('expired_token');
    service.clock.advanceSeconds(3600);
    await retentionOf(service).purge();
    expect((await late.ask()).body.error).toBe('invalid_grant');
  });

  it('a token that is bound to a key works with a proof of this key only, and a proof works once', async () => {
    const { application, authorization } = await signedIn('dario');
    const prove = proofs();
    const code = authorization.url.searchParams.get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: callback,
      code_verifier: authorization.verifier,
    };
    const proof = prove('POST', 'http://portal.test/oidc/token');
    const { status, body } = await askForTokens(service, application, form, { dpop: proof });
    expect([status, body.token_type]).toEqual([200, 'DPoP']);
    const token = body.access_token as string;
    const me = (dpop: string, scheme = 'DPoP') =>
      service.get('/oidc/me', { headers: { authorization: `${scheme} ${token}`, dpop } });
    const used = prove('GET', 'http://portal.test/oidc/me', token);
    expect((await me(used)).status).toBe(200);
    expect((await me(used)).status).toBe(401);
    expect((await me(proofs()('GET', 'http://portal.test/oidc/me', token))).status).toBe(401);
    expect((await service.get('/oidc/me', { bearer: token })).status).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string };
    const replayed = await askForTokens(service, application, refresh, { dpop: proof });
    expect(replayed.body.error).toBe('invalid_grant');
  });

  it('a token can be asked about and given back by its application', async () => {
    const { application, authorization } = await signedIn('ines');
    const { body } = await exchange(service, application, authorization);
    const about = async () =>
      (await postForm(service, '/oidc/token/introspection', application, { token: body.access_token as string })).body;
    expect(await about()).toMatchObject({ active: true, client_id: application.id, iss: 'http://portal.test/oidc' });
    const other = await givenApplication(service);
    const foreign = await postForm(service, '/oidc/token/revocation', other, { token: body.refresh_token as string });
    expect(foreign.status).toBe(200);
    expect(await about()).toMatchObject({ active: true });
    const refresh = { token: body.refresh_token as string };
    expect((await postForm(service, '/oidc/token/revocation', application, refresh)).status).toBe(200);
    expect(await about()).toEqual({ active: false });
  });

  it('acr_values, max_age and prompt=login ask for what the session lacks', async () => {
    await service.givenUser('alma');
    const application = await givenApplication(service);
    const { access } = await service.session('alma');
    const lacks = async (more: Record<string, string>) => {
      const browser = new OpenIdBrowser(service);
      const { url } = await browser.authorize(application, more);
      const { body } = await browser.finish(url.searchParams.get('interaction')!, access);
      return body.error_code === undefined ? 'nothing' : [body.error_code, body.data.second_factor];
    };
    expect(await lacks({ acr_values: 'urn:portal:acr:2' })).toEqual(['AUTH_403002', true]);
    expect(await lacks({ acr_values: 'urn:portal:acr:2 urn:portal:acr:1' })).toBe('nothing');
    service.clock.advanceSeconds(100);
    expect(await lacks({ max_age: '99' })).toEqual(['AUTH_403002', false]);
    expect(await lacks({ max_age: '100' })).toBe('nothing');
    expect(await lacks({ prompt: 'login' })).toEqual(['AUTH_403002', false]);
    const { url } = await new OpenIdBrowser(service).authorize(application, { prompt: 'none' });
    expect(url.searchParams.get('error')).toBe('login_required');
  });

  it('an application of somebody else gets nothing without consent, and is remembered with it', async () => {
    await service.givenUser('carl');
    const application = await givenApplication(service, { firstParty: false });
    const { access } = await service.session('carl');
    const browser = new OpenIdBrowser(service);
    const begin = async () => (await browser.authorize(application)).url.searchParams.get('interaction')!;
    const first = await begin();
    expect((await browser.describe(first, access)).body.data.consent).toBe(true);
    expect((await browser.finish(first, access)).body.error_code).toBe('APP_400001');
    const refused = await browser.finish(first, access, { consent: false });
    expect((await browser.follow(refused.body.data.redirect_to as string)).searchParams.get('error')).toBe(
      'access_denied',
    );
    const { url } = await browser.signIn(application, access, {}, true);
    expect(url.searchParams.get('code')).toEqual(expect.any(String));
    const another = new OpenIdBrowser(service);
    const later = (await another.authorize(application)).url.searchParams.get('interaction')!;
    expect((await another.describe(later, access)).body.data.consent).toBe(false);
  });

  it('the owner sees what others were allowed, and takes it back: every token of it ends at once', async () => {
    await service.givenUser('gina');
    const [ours, theirs] = [await givenApplication(service), await givenApplication(service, { firstParty: false })];
    const { access } = await service.session('gina');
    const browser = new OpenIdBrowser(service);
    await browser.signIn(ours, access);
    const { body } = await exchange(service, theirs, await browser.signIn(theirs, access, {}, true));
    const listed = await service.get('/user/grants', { bearer: access });
    const [grant] = listed.body.data.grants as { id: string }[];
    expect(listed.body.data.grants).toEqual([
      {
        id: expect.any(String),
        application: expect.objectContaining({ id: theirs.id }),
        scopes: ['openid', 'profile', 'email'],
        created_at: service.clock.now().toISOString(),
      },
    ]);
    await service.givenUser('other');
    const { access: stranger } = await service.session('other');
    const end = (bearer: string) => service.send('DELETE', `/user/grants/${grant!.id}`, undefined, { bearer });
    expect((await end(stranger)).body.error_code).toBe('USER_404001');
    expect((await service.get('/oidc/me', { bearer: body.access_token as string })).status).toBe(200);
    expect((await end(access)).status).toBe(200);
    expect((await service.get('/oidc/me', { bearer: body.access_token as string })).status).toBe(401);
    expect((await end(access)).body.error_code).toBe('USER_404001');
  });
});
