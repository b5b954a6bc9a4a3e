import { OidcRecords } from '../../src/applications/persistence/oidc-record.repository';
import { censusOfAll, resealAll } from '../../src/cli/sealed-values';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { SystemRandom } from '../../src/shared/random';
import { TestService } from '../support/app';
import { settings } from '../support/captcha/harness';
import { askForTokens, exchange, givenApplication, OpenIdBrowser, openIdSettings } from '../support/openid';
import { dataKey } from '../support/settings';

const [former, fresh] = [dataKey(2), dataKey(1)];
const ring = (...keys: string[]) => new KeyRing(settings({ DATA_ENCRYPTION_KEY: keys.join(',') }), new SystemRandom());

const start = (keys: string, store?: TestService['store']) =>
  TestService.start({ ...openIdSettings, DATA_ENCRYPTION_KEY: keys }, { store });

/** A sign-in at an application while the service has only the former key. */
async function signedInBefore(more: Record<string, string> = {}) {
  const before = await start(former);
  const application = await givenApplication(before);
  await before.givenUser('alice');
  const { access } = await before.session('alice');
  const authorization = await new OpenIdBrowser(before).signIn(application, access, more);
  return { before, application, tokens: (await exchange(before, application, authorization)).body };
}

it('a sign-in at an application goes on while the data keys are rotated, before `keys reseal`', async () => {
  const { before, application, ...signedIn } = await signedInBefore();
  let { tokens } = signedIn;
  await before.stop({ keepStore: true });

  const after = await start(`${fresh},${former}`, before.store);
  // The first token has hashes of the former key. The others have those of the new key, and their grant still has the former hash.
  for (let n = 0; n < 3; n++) {
    expect((await after.get('/oidc/me', { bearer: String(tokens.access_token) })).status).toBe(200);
    const form = { grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) };
    const answer = await askForTokens(after, application, form);
    expect(answer.status).toBe(200);
    tokens = answer.body;
  }
  await after.stop();
});

it('a sign-in at an application outlives the removal of the data key that it was made with, after `keys reseal`', async () => {
  const { before, application, tokens } = await signedInBefore({ scope: 'openid offline_access' });
  const both = ring(fresh, former);
  expect((await censusOfAll(before.database, both)).former).toBeGreaterThan(0);

  const counts = await resealAll(before.database, both);
  expect(counts['oidc_records.payload']).toBeGreaterThan(0);
  expect(await censusOfAll(before.database, both)).toEqual({ former: 0, unreadable: 0 });
  expect((await resealAll(before.database, both))['oidc_records.payload']).toBe(0);
  await before.stop({ keepStore: true });

  const after = await start(fresh, before.store);
  const answer = await askForTokens(after, application, {
    grant_type: 'refresh_token',
    refresh_token: String(tokens.refresh_token),
  });
  expect(answer).toMatchObject({ status: 200, body: { access_token: expect.any(String) } });
  expect((await after.get('/oidc/me', { bearer: String(answer.body.access_token) })).status).toBe(200);
  await after.stop();
});

it('a proof that was used at a replica is refused by the next one of each roll-out of a key rotation', async () => {
  let store: TestService['store'] | undefined;
  const lists = [former, `${former},${fresh}`, `${fresh},${former}`, fresh];
  for (const [n, keys] of lists.entries()) {
    const replica = await start(keys, store);
    store = replica.store;
    const use = (id: string) =>
      replica.app.get(OidcRecords).useOnce('ReplayDetection', id, replica.clock.secondsFromNow(900));
    if (n > 0) expect(await use(`proof-${n - 1}`)).toBe(false);
    expect([await use(`proof-${n}`), await use(`proof-${n}`)]).toEqual([true, false]);
    await replica.stop({ keepStore: n < lists.length - 1 });
  }
});
