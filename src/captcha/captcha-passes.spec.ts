import { SystemRandom } from '../shared/random';
import { KeyRing } from '../platform/crypto/key-ring';
import { settings, type Store, temporaryStore } from '../../test/support/captcha/harness';
import { FakeClock } from '../../test/support/fakes';
import { dataKey } from '../../test/support/settings';
import { CaptchaPasses } from './captcha-passes';

const ip = '203.0.113.7';

describe('CaptchaPasses', () => {
  let store: Store;
  let clock: FakeClock;
  let passes: CaptchaPasses;

  beforeAll(async () => {
    store = await temporaryStore();
  });
  afterAll(() => store.close());

  beforeEach(() => {
    clock = new FakeClock(new Date());
    passes = passesWith(dataKey('k'));
  });

  function passesWith(keys: string): CaptchaPasses {
    const random = new SystemRandom();
    const ring = new KeyRing(settings({ DATA_ENCRYPTION_KEY: keys }), random);
    return new CaptchaPasses(ring, store.receipts(clock), clock, random);
  }

  const rows = () => store.database.rows('SELECT token_hash FROM captcha_receipts');

  it('accepts a pass once', async () => {
    const pass = passes.issue(ip);
    expect(passes.recognises(pass)).toBe(true);
    expect(await passes.spend(pass, ip)).toBe(true);
    expect(await passes.spend(pass, ip)).toBe(false);
  });

  it('a spent pass stays spent when the receipts that nobody needs any more are deleted', async () => {
    const pass = passes.issue(ip);
    expect(await passes.spend(pass, ip)).toBe(true);
    clock.advanceSeconds(299);
    await store.receipts(clock).purgeExpired(1000);
    expect(await passes.spend(pass, ip)).toBe(false);
  });

  it('lets one of 20 parallel logins with one pass through', async () => {
    const pass = passes.issue(ip);
    const spent = await Promise.all(Array.from({ length: 20 }, () => passes.spend(pass, ip)));
    expect(spent.filter(Boolean)).toHaveLength(1);
  });

  it('refuses a pass from another client address and does not spend it', async () => {
    const pass = passes.issue(ip);
    expect(await passes.spend(pass, '203.0.113.8')).toBe(false);
    expect(pass).not.toContain(ip);
    expect(await passes.spend(pass, ip)).toBe(true);
  });

  it('accepts a pass for five minutes', async () => {
    const pass = passes.issue(ip);
    const other = passes.issue(ip);
    clock.advanceSeconds(298);
    expect(await passes.spend(pass, ip)).toBe(true);
    clock.advanceSeconds(2);
    expect(await passes.spend(other, ip)).toBe(false);
  });

  it('refuses a pass that is forged, prolonged or encoded differently, and stores no receipt for it', async () => {
    const pass = passes.issue(ip);
    const [, expires, id, mac] = pass.split('.') as [string, string, string, string];
    const before = await rows();
    for (const forged of [
      `pass.${Number(expires) + 300}.${id}.${mac}`,
      `pass.${expires}.${id.replace(/^./, (c) => (c === '0' ? '1' : '0'))}.${mac}`,
      `pass.${expires}.${id}.${'0'.repeat(64)}`,
      `pass.${expires}.${id}.${mac.toUpperCase()}`,
      `pass.${expires}.${id}.${mac}00`,
      `pass.${expires}.${id}.${mac.slice(0, 62)}`,
      `pass.0${expires}.${id}.${mac}`,
      `${pass}\n`,
      `pass.${expires}.${id}`,
      'pass.',
      'pass...',
    ]) {
      expect([forged, await passes.spend(forged, ip)]).toEqual([forged, false]);
    }
    expect(await rows()).toEqual(before);
    expect(await passes.spend(pass, ip)).toBe(true);
  });

  it('accepts a pass as long as the key that signed it is still in DATA_ENCRYPTION_KEY', async () => {
    const [kept, lost] = [passes.issue(ip), passes.issue(ip)];
    expect(await passesWith(`${dataKey('n')},${dataKey('k')}`).spend(kept, ip)).toBe(true);
    expect(await passesWith(dataKey('n')).spend(lost, ip)).toBe(false);
  });
});
