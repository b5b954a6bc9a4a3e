import type { User } from '../../../src/users/user.entity';
import { ProviderConnection } from '../../../src/identity-providers/provider-connection';
import { password } from '../app';
import { SoftAuthenticator } from '../authenticator';
import { givenIdentityProvider } from '../identity-providers';
import { MfaClient } from '../mfa';
import { goodPassword } from '../reset';
import { captchaToken } from '../settings';
import type { Recorder } from './recorder';

/** At the provider of the company: its answers are those of a provider that nobody has to start. */
async function externalSignIn(recorder: Recorder): Promise<void> {
  const { service } = recorder;
  await givenIdentityProvider(service, { id: 'google', jit: true, domains: ['example.com'] });
  const connection = service.app.get(ProviderConnection, { strict: false });
  let state = '';
  connection.authorizationUrl = (_client, request) => {
    ({ state } = request);
    return Promise.resolve('https://login.example.com/authorize?client_id=portal&response_type=code');
  };
  const claims = { preferred_username: 'mallika', email: 'mallika@example.com', name: 'Mallika' };
  const verified = { sub: '248289761001', claims, sid: undefined, amr: [], acr: undefined, authTime: undefined };
  connection.exchange = () => Promise.resolve(verified);

  const begun = await recorder.call('beginExternalLogin', {
    parameters: { id: 'google' },
    body: { return_to: '/reports' },
  });
  await recorder.call('beginExternalLogin', { parameters: { id: 'unknown' }, body: {} });
  await recorder.call('beginExternalLogin', { parameters: { id: 'google' }, body: { return_to: 'reports' } });
  const [cookie = ''] = [begun.headers['set-cookie'] ?? ''].flat().map((line) => String(line).split(';')[0]!);
  const page = await service.get(`/login/external/google/callback?code=x&state=${state}`, { headers: { cookie } });
  const code = new URL(String(page.headers.location)).searchParams.get('external');
  await recorder.call('loginExternally', { headers: { cookie }, body: { code } });
  await recorder.call('loginExternally', { headers: { cookie }, body: { code: 'wrong' } });
  await recorder.call('loginExternally', { body: {} });
}

export const portal = 'https://portal.example.com';

/** Alice and what she holds at the end of the story. */
export interface SignedIn {
  readonly alice: User;
  readonly access: string;
  readonly refresh: string;
}

/** A person meets the login page, logs in with a mailed code, and sets up an authenticator and a passkey. */
export async function signInStory(recorder: Recorder): Promise<SignedIn> {
  const mfa = new MfaClient(recorder.service);
  const alice = await recorder.service.givenUser('alice', { nickname: 'Alice' });
  const credentials = { username: 'alice', password };

  await recorder.call('getCapabilities');
  await recorder.call('getCaptchaChallenge');
  const captcha = await recorder.call('verifyCaptcha', { body: { captcha_token: captchaToken } });
  await recorder.call('verifyCaptcha', { body: { captcha_token: 'a-wrong-token' } });
  const pass = captcha.body.data.captcha_token as string;
  const pending = await recorder.call('login', {
    ...{ name: 'second_factor', summary: 'A code was sent, and /otp-verify continues' },
    body: { ...credentials, captcha_token: pass },
  });
  await recorder.call('login', { body: { captcha_token: captchaToken } });
  const wrong = { ...credentials, password: 'Wrong-Horse-7', captcha_token: captchaToken };
  await recorder.call('login', { body: wrong });

  const open = { uid: alice.uid, mfa_token: pending.body.data.mfa_token as string };
  recorder.service.clock.advanceSeconds(61);
  await recorder.call('resendOtp', { body: { ...open, type: 'email' } });
  await recorder.call('resendOtp', { body: { ...open, uid: 1 } });
  await recorder.call('resendOtp', { body: { ...open, type: 'totp' } });
  await recorder.call('verifyOtp', { body: {} });
  await recorder.call('verifyOtp', { body: { ...open, type: 'email', code: 'wrong' } });
  const verified = await recorder.call('verifyOtp', {
    ...{ name: 'email', summary: 'A mailed code, on a device that is trusted from now on' },
    body: { ...open, type: 'email', code: await mfa.lastCode(alice), trust_device: true },
  });
  const { device_token, access_token: bearer } = verified.body.data as Record<string, string>;
  await recorder.call('login', {
    ...{ name: 'session', summary: 'The tokens, here by a trusted device' },
    body: { ...credentials, captcha_token: captchaToken, device_token },
  });
  const trusted = await recorder.call('getTrustedDevices', { bearer });
  const device = { id: (trusted.body.data.devices as { id: string }[])[0]!.id };
  await recorder.call('deleteTrustedDevice', { bearer, parameters: device });
  await recorder.call('deleteTrustedDevice', { bearer, parameters: device });

  await externalSignIn(recorder);

  const { secret } = (await recorder.call('createTotpSecret', { bearer, body: {} })).body.data as { secret: string };
  await recorder.call('createTotpSecret', { bearer, body: { code: 1 } });
  await recorder.call('getOtpQrCode', { bearer, parameters: { uid: alice.uid } });
  const enrolled = await recorder.call('verifyOtp', {
    ...{ name: 'enrolment', summary: 'The first code of a new authenticator, with the access token' },
    ...{ bearer, body: { uid: alice.uid, type: 'totp', code: mfa.code(secret) } },
  });
  const tokens = enrolled.body.data as { access_token: string; refresh_token: string };
  await recorder.call('createRecoveryCodes', { bearer: tokens.access_token });
  await recorder.call('getRecoveryCodes', { bearer: tokens.access_token });
  await passkeys(recorder, tokens.access_token);
  return { alice, access: tokens.access_token, refresh: tokens.refresh_token };
}

async function passkeys(recorder: Recorder, bearer: string): Promise<void> {
  const authenticator = new SoftAuthenticator(portal);
  const creation = await recorder.call('createPasskeyOptions', { bearer });
  const created = await recorder.call('registerPasskey', {
    ...{ bearer, body: { name: 'My phone', response: authenticator.create(creation.body.data) } },
  });
  await recorder.call('registerPasskey', { bearer, body: { name: '' } });
  const spent = { name: 'My phone', response: authenticator.create(creation.body.data) };
  await recorder.call('registerPasskey', { bearer, body: spent });
  const parameters = { id: created.body.data.id as string };
  const request = (await recorder.call('createPasskeyChallenge', { body: {} })).body.data;
  const assertion = {
    challenge_id: request.challenge_id,
    response: authenticator.get(request.options, {}, authenticator.credentials[0]),
  };
  await recorder.call('loginWithPasskey', { body: assertion });
  await recorder.call('loginWithPasskey', { body: { ...assertion, challenge_id: 1 } });
  await recorder.call('loginWithPasskey', { body: { ...assertion } });
  await recorder.call('listPasskeys', { bearer });
  await recorder.call('renamePasskey', { bearer, parameters, body: { name: 'Old phone' } });
  await recorder.call('renamePasskey', { bearer, parameters, body: {} });
  await recorder.call('deletePasskey', { bearer, parameters });
  await recorder.call('deletePasskey', { bearer, parameters });
}

/** Bob has a temporary password and sets his own. Alice has forgotten hers. */
export async function passwordStory(recorder: Recorder): Promise<void> {
  await recorder.service.givenUser('bob', { temporary: true, nickname: 'Bob' });
  await recorder.call('getPasswordPolicy');
  const login = await recorder.call('login', {
    ...{ name: 'password_change', summary: 'A temporary or expired password is changed first' },
    body: { username: 'bob', password, captcha_token: captchaToken },
  });
  const req_uid = login.body.data.change_uid as string;
  await recorder.call('getPasswordChangeRequest', { parameters: { uid: req_uid } });
  const change = { req_uid, password: goodPassword(1), confirm_password: goodPassword(1) };
  await recorder.call('changePasswordByRequest', { body: {} });
  await recorder.call('changePasswordByRequest', { body: { ...change, password: 'short', confirm_password: 'short' } });
  await recorder.call('changePasswordByRequest', { body: change });
  await recorder.call('changePasswordByRequest', { body: change });
  await recorder.call('forgetPassword', { body: { email: 'alice@example.com', lang: 'en' } });
  await recorder.call('forgetPassword', { body: { email: 'nobody' } });
}
