import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LegacySystem } from '../../src/legacy/legacy-system';
import { SystemRandom } from '../../src/shared/random';
import { Clock } from '../../src/shared/clock';
import { webhookSecret } from '../support/events/webhook-receiver';
import { type Asked, legacyAnswer, LegacyStandIn } from '../support/legacy-system';

const page = readFileSync(resolve(__dirname, '../../docs/operations/adoption.md'), 'utf8');
const block = /```python\n([\s\S]*?)\n {3}```/.exec(page)![1]!.replace(/^ {3}/gm, '');

/** Operators copy the view of docs/operations/adoption.md#legacy. Python runs it as it stands there. */
describe('the view of the page on adoption', () => {
  let legacy: LegacyStandIn;
  let folder: string;
  beforeAll(async () => {
    legacy = await LegacyStandIn.start();
    folder = mkdtempSync(join(tmpdir(), 'legacy-view-'));
    writeFileSync(join(folder, 'view.py'), block);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await legacy.stop();
  });

  /** The question as this service sends it. */
  async function question(loginName: string, password: string, now = new Date()): Promise<Asked> {
    const clock = { now: () => now } as Clock;
    const settings = { legacy: { url: legacy.url, secret: webhookSecret, timeoutMs: 10_000 } };
    legacy.behaviour = legacyAnswer('{"result":false}');
    await new LegacySystem(settings, clock, new SystemRandom()).ask({
      loginName,
      password,
      email: null,
      requestId: null,
    });
    return legacy.seen.at(-1)!;
  }

  const answersOf = (requests: readonly Asked[]): [status: number, content: unknown][] => {
    const input = JSON.stringify(requests.map(({ headers, text: body }) => ({ headers, body })));
    const script = resolve(__dirname, '../support/legacy_view.py');
    const env = { LEGACY_VERIFY_SECRET: webhookSecret };
    const { stdout, stderr } = spawnSync('/usr/bin/python3', [script, join(folder, 'view.py')], {
      ...{ input, env, encoding: 'utf8' },
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout) as [number, unknown][];
  };

  it('answers true for the right password of an active user, and false for others', async () => {
    const asked = [
      await question('ada', 'Old-1'),
      await question('ada', 'old-1'),
      await question('gone', 'Old-1'),
      await question('nobody', 'Old-1'),
    ];
    expect(answersOf(asked)).toEqual([true, false, false, false].map((result) => [200, { result }]));
  });

  it('T701 refuses a question that was changed, repeated after five minutes, or signed by somebody else', async () => {
    const genuine = await question('ada', 'Old-1');
    const old = await question('ada', 'Old-1', new Date(Date.now() - 301_000));
    const signature = String(genuine.headers['webhook-signature']);
    const with_ = (headers: Record<string, string>) => ({ ...genuine, headers: { ...genuine.headers, ...headers } });
    const forged = [
      { ...genuine, text: genuine.text.replace('ada', 'ben') },
      old,
      with_({ 'webhook-timestamp': String(Number(genuine.headers['webhook-timestamp']) + 1) }),
      with_({ 'webhook-timestamp': 'soon' }),
      with_({ 'webhook-id': 'another' }),
      with_({ 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }),
      with_({ 'webhook-signature': 'ä' }),
      { ...genuine, headers: {} },
    ];
    expect(answersOf(forged)).toEqual(forged.map(() => [401, null]));
    // Two keys sign while a secret is exchanged.
    expect(answersOf([with_({ 'webhook-signature': `v1,AAAA ${signature}` })])).toEqual([[200, { result: true }]]);
  });
});
