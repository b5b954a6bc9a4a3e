import { TestService } from '../support/app';
import { givenIdentityProvider } from '../support/identity-providers';
import { MfaClient, mfaSettings, pairOf } from '../support/mfa';
import { eventually } from '../support/servers/eventually';
import { dataKey } from '../support/settings';

const another = { DATA_ENCRYPTION_KEY: dataKey('another') };
const told = (service: TestService) =>
  service.logLines.filter(({ msg }) => String(msg).startsWith('DATA_ENCRYPTION_KEY does not open a stored value'));

describe('a DATA_ENCRYPTION_KEY that does not decrypt the stored values', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  it('is logged at the start, once for each kind of value, and a request that needs a value gets 503, not 500', async () => {
    const { user, secret } = await mfa.givenAuthenticator('sealed');
    const { clock, store } = mfa.service;
    await givenIdentityProvider(mfa.service);
    const wrong = await TestService.start({ ...mfaSettings, ...another }, { clock, store });
    try {
      // One line each for the TOTP secret, its URI, the mail with the code of the first login, and the secret at a provider.
      await eventually(() => told(wrong).length === 4, { what: 'four lines' });
      const client = new MfaClient(wrong);
      const { uid, mfaToken } = await client.logIn('sealed');
      for (let n = 0; n < 2; n++) {
        const answer = await client.verify(uid, 'totp', client.code(secret), { mfa_token: mfaToken });
        expect(answer).toMatchObject({ status: 503, body: { error_code: 'COMMON_503001' } });
      }
      expect(told(wrong)).toHaveLength(4);
      expect(wrong.logLines.filter(({ msg }) => msg === 'COMMON_500001')).toEqual([]);
      expect(JSON.stringify(wrong.logLines)).not.toContain(another.DATA_ENCRYPTION_KEY);
    } finally {
      await wrong.stop({ keepStore: true });
    }
    // With the right key everything still works.
    expect(told(mfa.service)).toEqual([]);
    mfa.service.clock.advanceSeconds(60);
    const { uid } = await mfa.logIn(user.loginName);
    pairOf(await mfa.verify(uid, 'totp', mfa.code(secret)));
  });
});
