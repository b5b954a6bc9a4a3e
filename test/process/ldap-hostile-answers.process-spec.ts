import { resolve } from 'node:path';
import type { Answer } from '../support/app';
import { attribute, element, text } from '../support/ber';
import { DirectoryStub, result, type StubQuestion } from '../support/directory-stub';
import { hostileAnswer } from '../support/hostile-answers';
import { post } from '../support/post';
import { SeededNumbers } from '../support/seeded-numbers';
import { eventually } from '../support/servers/eventually';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, testSettings } from '../support/settings';

const seed = Number(process.env.LDAP_FUZZ_SEED ?? 12);
/** The number of mutated answers. `LDAP_FUZZ_ANSWERS=2000` makes a longer run. */
const answers = 4 * Math.ceil(Number(process.env.LDAP_FUZZ_ANSWERS ?? 680) / 4);
const shares: [number, StubQuestion][] = [
  [answers / 4, 'service bind'],
  [answers / 2, 'search'],
  [answers / 4, 'user bind'],
];
const longestHoldMs = 200;

/** Names that have an account. Each account has at most one login at a time. */
const accounts = Array.from({ length: 8 }, (_, n) => `account${n}`);

const judged = ['success', 'LOGIN_401001', 'LOGIN_401004', 'LOGIN_401011', 'LOGIN_401012', 'LOGIN_404001'];

const success = (tag: number) => result(tag, { code: 0 });
const entry = (...attributes: Buffer[]) => element(0x64, text('uid=somebody,dc=example'), element(0x30, ...attributes));

/** A SearchResultEntry whose set of values has a length field that is `missing` bytes too large. */
function shortEntry(id: Buffer, missing: number): Buffer {
  const whole = element(0x30, id, entry(attribute('uid', 'somebody')));
  whole[whole.lastIndexOf(0x31) + 1]! += missing;
  return whole;
}

const attacks: [what: string, question: StubQuestion, (id: Buffer) => Buffer][] = [
  ['a bind result without a status', 'service bind', (id) => element(0x30, id, element(0x61))],
  ['a result of the user bind without a status', 'user bind', (id) => element(0x30, id, element(0x61))],
  ['a search result without a status', 'search', (id) => element(0x30, id, element(0x65))],
  ['an entry whose values claim 100 bytes more than there are', 'search', (id) => shortEntry(id, 100)],
  ['an entry whose values claim one byte more than there is', 'search', (id) => shortEntry(id, 1)],
  [
    'controls that end too early',
    'search',
    (id) => element(0x30, id, success(0x65), Buffer.from('a07f3003040131', 'hex')),
  ],
  [
    '4,000 results in one piece, which overflow the stack of a recursive reader',
    'service bind',
    () => Buffer.concat(Array<Buffer>(4000).fill(element(0x30, Buffer.of(2, 1, 99), success(0x61)))),
  ],
  [
    'an entry with two values for its DN, which makes the bind throw, sent before the search',
    'service bind',
    (id) =>
      Buffer.concat([
        element(0x30, id, success(0x61)),
        element(0x30, Buffer.of(2, 1, 2), entry(attribute('dn', 'uid=a', 'uid=b'))),
        element(0x30, Buffer.of(2, 1, 2), success(0x65)),
      ]),
  ],
  [
    'an attribute with the name controls, beside controls',
    'search',
    (id) => {
      const control = element(0xa0, element(0x30, text('1.2.3')));
      return element(0x30, id, entry(attribute('controls', 'some text')), control);
    },
  ],
  [
    'an entry of 120,000 empty values',
    'search',
    (id) => element(0x30, id, entry(element(0x30, text('uid'), element(0x31, Buffer.alloc(240_000, '0400', 'hex'))))),
  ],
  ['an announced length of 2 GB', 'search', () => Buffer.from('30847fffffff', 'hex')],
  ['an indefinite length', 'search', () => Buffer.from('3080', 'hex')],
  [
    'a million bytes of search references',
    'search',
    (id) =>
      Buffer.concat(Array<Buffer>(30_000).fill(element(0x30, id, element(0x73, text('ldap://127.0.0.1:1/dc=a'))))),
  ],
  ['a message inside another one', 'search', (id) => element(0x30, element(0x30, id, success(0x65)))],
  ['HTTP', 'service bind', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
];

/** An attacker on the network can send these bytes on an ldap:// connection without TLS, or as a false directory. */
describe('a hostile directory', () => {
  let stub: DirectoryStub;
  let service: ServiceProcess;
  let reports = 0;

  beforeAll(async () => {
    stub = await DirectoryStub.start();
    service = await ServiceProcess.start({
      env: {
        ...testSettings,
        ...stub.settings,
        LDAP_TIMEOUT_MS: '300',
        LDAP_JIT_PROVISIONING: 'true',
        // A locked account would end a login before the directory is asked.
        MAX_LOCK_COUNT: '1000000',
        NODE_OPTIONS: `--import ${resolve(__dirname, '../support/loop-probe.mjs')}`,
      },
    });
    // The first logins make the accounts and load the modules that a login needs.
    for (const name of accounts) {
      await eventually(async () => (await login(name)) === 'success', { what: `${name} has an account` });
    }
    await longestHold();
  });

  afterAll(async () => {
    await service?.stop();
    await stub?.stop();
  });

  afterEach(() => {
    stub.lie = () => undefined;
  });

  async function login(username: string): Promise<string> {
    const body = { username, password: 'some-password', provider: 'ldap', captcha_token: captchaToken };
    const answer = await post(service, '/login', body);
    return answer.status === 200 ? 'success' : String((answer as Pick<Answer, 'body'>).body.error_code);
  }

  /** Returns the longest time in milliseconds for which work blocked the event loop since the last call. */
  async function longestHold(): Promise<number> {
    service.signal('SIGUSR2');
    const line = await service.line(new RegExp(`"report":${++reports}\\b`));
    return (JSON.parse(line) as { longestHoldMs: number }).longestHoldMs;
  }

  async function assertUnharmed(): Promise<void> {
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(await longestHold()).toBeLessThan(longestHoldMs);
  }

  it.each(attacks)('%s, in answer to the %s, gives LOGIN_503001', async (_what, question, bytes) => {
    stub.lie = (asked, id) => (asked === question ? { bytes: bytes(id), end: false } : undefined);
    expect(await login(accounts[0]!)).toBe('LOGIN_503001');
    await assertUnharmed();
  });

  it.each(shares)(
    `with %d mutated answers to the %s, each login gets a verdict or LOGIN_503001 (seed ${seed})`,
    async (share, question) => {
      const numbers = new SeededNumbers(seed);
      const outcomes: Record<string, number> = {};
      let [sent, strangers] = [0, 0];
      stub.lie = (asked, id) => {
        if (asked !== question || sent === share) return undefined;
        sent++;
        // After a truncated answer on an open connection, a login waits until its time limit. The stub therefore ends
        // most connections. The connection of the service bind stays open, because the search needs it.
        return {
          bytes: hostileAnswer(question, id, numbers),
          end: question !== 'service bind' && numbers.next(20) > 0,
        };
      };
      // A login that reaches its time limit before the semaphore admits it gets no mutated answer.
      const work = async (account: string) => {
        for (let n = 0; sent < share; n++) {
          const outcome = await login(n % 2 === 0 ? account : `stranger${strangers++}`);
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        }
      };
      await Promise.all(accounts.map(work));
      await assertUnharmed();
      const { LOGIN_503001: unavailable = 0, ...others } = outcomes;
      expect(Object.keys(others).filter((outcome) => !judged.includes(outcome))).toEqual([]);
      // Some answers are refused and some are accepted. To the service bind, every mutated answer of this seed is
      // refused: a login that succeeds there got a correct answer, because the last mutated one was just sent.
      expect(unavailable).toBeGreaterThan(share / 10);
      if (question !== 'service bind') expect(Object.keys(others)).not.toEqual([]);
      await eventually(async () => (await login(accounts[0]!)) === 'success', { what: 'a correct answer is accepted' });
    },
  );
});
