import { decodeJwt } from 'jose';
import { tokenOf } from '../support/admin';
import { MfaClient, pairOf } from '../support/mfa';
import { password, TestService } from '../support/app';

const one = 'urn:portal:acr:1';
const two = 'urn:portal:acr:2';

/** docs/spec/extensions.md#acr */
describe.each([['false'], ['true']])('how and when somebody signed in, with REFRESH_TOKEN_ROTATION=%s', (rotation) => {
  let mfa: MfaClient;
  let service: TestService;
  beforeAll(async () => {
    const settings = { REFRESH_TOKEN_ROTATION: rotation, ACCESS_TOKEN_TTL_SECONDS: '3600' };
    service = await TestService.start({ ...settings, MFA_TRUSTED_DEVICE_DAYS: '30' });
    mfa = new MfaClient(service);
  });
  afterAll(() => mfa.stop());

  const now = () => Math.floor(service.clock.now().getTime() / 1000);
  const factsOf = (token: string) => {
    const { auth_time, acr } = decodeJwt(token);
    return { auth_time, acr };
  };
  const refreshed = async (token: string) =>
    (await service.post('/refresh', undefined, { bearer: token })).body.data as Record<string, string>;

  it('a login by password is one factor, now; a refresh changes neither', async () => {
    await service.givenUser('plain');
    const { access, refresh } = await service.session('plain');
    const at = now();
    expect(factsOf(access)).toEqual({ auth_time: at, acr: one });
    service.clock.advanceSeconds(400);
    const again = await refreshed(refresh);
    expect(factsOf(again.access_token!)).toEqual({ auth_time: at, acr: one });
    expect(decodeJwt(again.access_token!).iat).toBe(at + 400);
    expect(factsOf((await refreshed(again.refresh_token!)).access_token!)).toEqual({ auth_time: at, acr: one });
    // A service that asks for a fresh login must not be able to read it from the wrong token.
    for (const token of [refresh, again.refresh_token!]) {
      expect(factsOf(token)).toEqual({ auth_time: undefined, acr: undefined });
    }
  });

  it.each([
    ['a code', 'totp', two],
    ['a code by mail', 'email', two],
    ['a recovery code', 'recovery', two],
    ['a passkey', 'passkey', two],
    ['a trusted device', 'device', one],
  ] as const)('a login with %s is %s: %s', async (_what, factor, acr) => {
    const user = await service.givenUser(`by-${factor}`);
    expect(factsOf(await tokenOf(service, user, factor as 'totp'))).toEqual({ auth_time: now(), acr });
  });

  it('a change of the own password moves the time, and keeps the factors', async () => {
    const user = await service.givenUser('changes');
    const bearer = await tokenOf(service, user, 'totp');
    service.clock.advanceSeconds(500);
    const { body } = await service.post(
      '/user/change-password',
      { current_password: password, password: 'Another-Horse-9', confirm_password: 'Another-Horse-9' },
      { bearer },
    );
    const changed = body.data as Record<string, string>;
    expect(factsOf(changed.access_token!)).toEqual({ auth_time: now(), acr: two });
    const at = now();
    service.clock.advanceSeconds(60);
    expect(factsOf((await refreshed(changed.refresh_token!)).access_token!)).toEqual({ auth_time: at, acr: two });
  });

  it('the confirmation of an authenticator moves the time, and is the second factor', async () => {
    const user = await service.givenUser('enrols');
    const { access: bearer } = await service.session('enrols');
    service.clock.advanceSeconds(200);
    const secret = (await service.post('/totp-secret', undefined, { bearer })).body.data.secret as string;
    const { access, refresh } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer }));
    const at = now();
    expect(factsOf(access)).toEqual({ auth_time: at, acr: two });
    service.clock.advanceSeconds(60);
    expect(factsOf((await refreshed(refresh)).access_token!)).toEqual({ auth_time: at, acr: two });
  });

  it('a session of a version that did not store the time has no auth_time after a refresh', async () => {
    await service.givenUser('former');
    const { refresh } = await service.session('former');
    const { sid } = decodeJwt(refresh);
    await service.database.affected('UPDATE login_tokens SET authenticated_at = NULL WHERE jti = ?', [String(sid)]);
    const { access_token: access } = await refreshed(refresh);
    expect(factsOf(access!)).toEqual({ auth_time: undefined, acr: one });
    expect((await service.get('/user/me', { bearer: access })).status).toBe(200);
  });
});
