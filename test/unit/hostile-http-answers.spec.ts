import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Logger } from '@nestjs/common';
import { SiteverifyProvider } from '../../src/captcha/provider/siteverify-provider';
import { Webhook } from '../../src/events/outbox/webhook';
import { BreachedPasswords } from '../../src/password-reset/rules/breached-passwords';
import { lineOf, sha1 } from '../support/breach-stub';
import { settings } from '../support/captcha/harness';
import { webhookSecret } from '../support/events/webhook-receiver';
import { FakeClock } from '../support/fakes';
import { mutated } from '../support/fuzz/byte-mutations';
import { collectGarbage, heapMb } from '../support/heap';
import { HostileServer, type Reply } from '../support/hostile-server';
import { SeededNumbers } from '../support/seeded-numbers';
import { eventually } from '../support/servers/eventually';

jest.setTimeout(600_000);

const seed = Number(process.env.ANSWER_FUZZ_SEED ?? 22);
/** `ANSWER_FUZZ_ANSWERS=2000` makes a longer run. */
const answers = Number(process.env.ANSWER_FUZZ_ANSWERS ?? 700);
const clients = 32;
/** The time limit of a request, where the service takes one from its settings. */
const limitMs = 3000;
/** Without a time limit, an answer that is cut off would never end. */
const generousMs = 60_000;

const tokens = [
  ...['\r\n', '\r\n\r\n', '0\r\n\r\n', 'ffffffff\r\n', '\r\nContent-Length: 5', '\r\nTransfer-Encoding: chunked', '\0'],
  ...[
    '\r\nContent-Encoding: gzip',
    '\r\nContent-Encoding: br, gzip',
    '\r\nLocation: /',
    'HTTP/1.1 100 Continue\r\n\r\n',
  ],
  ...[
    'HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    '\r\nConnection: close',
    '\r\nSet-Cookie: a=b',
  ],
  ...['"__proto__":{},', 'true', 'null', '[', '{"a":', '\xff', '\\ud800', ':1\r\n', '1e999', ',"error-codes":["x"]'],
];

const endings: readonly Reply['then'][] = [...Array<'end'>(28).fill('end'), 'keep', 'reset'];

interface Base {
  readonly bytes: Buffer;
  /** The body is in one piece and as it was given, so that its bytes show what a client can read in them. */
  readonly isPlain: boolean;
}

/** An answer with a length, in chunks, compressed, or up to the end of the connection. */
function baseAnswer(numbers: SeededNumbers, statuses: readonly number[], text: string, type: string): Base {
  const status = numbers.pick(statuses);
  const head = [
    `HTTP/1.1 ${status} Text`,
    `Content-Type: ${type}`,
    ...(status >= 300 && status < 400 ? ['Location: /'] : []),
  ];
  const answer = (fields: string[], body: Buffer) =>
    Buffer.concat([Buffer.from([...head, ...fields, '', ''].join('\r\n')), body]);
  const body = Buffer.from(text);
  const plain = (bytes: Buffer): Base => ({ bytes, isPlain: true });
  const other = (bytes: Buffer): Base => ({ bytes, isPlain: false });
  const coded = (name: string, packed: Buffer) =>
    other(answer([`Content-Encoding: ${name}`, `Content-Length: ${packed.length}`], packed));
  return numbers.pick<() => Base>([
    ...Array<() => Base>(10).fill(() => plain(answer([`Content-Length: ${body.length}`], body))),
    () => plain(answer(['Connection: close'], body)),
    () => {
      const half = body.length >> 1;
      const chunk = (part: Buffer) =>
        Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
      const chunks = [body.subarray(0, half), body.subarray(half)].filter((part) => part.length > 0).map(chunk);
      return other(answer(['Transfer-Encoding: chunked'], Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])));
    },
    () => coded('gzip', gzipSync(body)),
    () => coded('deflate', deflateSync(body)),
    () => coded('br', brotliCompressSync(body)),
  ])();
}

const plainWord = /^(status \d{3}|redirect|timeout|unreachable|too large|nonsense|[A-Z][A-Z0-9_]+)$/;

describe(`mutated answers of the services that this one asks over HTTP (seed ${seed})`, () => {
  let servers: HostileServer[];
  let numbers: SeededNumbers;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    servers = Array.from({ length: clients }, () => new HostileServer());
    await Promise.all(servers.map((server) => server.listen()));
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));
  beforeEach(() => {
    numbers = new SeededNumbers(seed);
  });

  /**
   * Asks in parallel. Each client has a server of its own, so that `check` gets the answer with its outcome.
   * @returns the number of times of each outcome
   */
  async function askAll<Outcome>(
    base: () => Base,
    asks: (url: string) => () => Promise<Outcome>,
    check: (outcome: Outcome, given: Base) => void,
  ): Promise<Record<string, number>> {
    const outcomes: Record<string, number> = {};
    const before = heapMb();
    let [asked, longestMs] = [0, 0];
    const client = async (server: HostileServer) => {
      const ask = asks(server.url);
      while (asked++ < answers) {
        const { bytes, isPlain } = base();
        const changed = mutated(bytes, numbers, { tokens, largest: 200_000 });
        const given: Base & Reply = { bytes: changed, isPlain, then: numbers.pick(endings) };
        server.reply = () => given;
        const started = performance.now();
        const outcome = await ask();
        longestMs = Math.max(longestMs, performance.now() - started);
        check(outcome, given);
        const name = JSON.stringify(outcome) ?? 'undefined';
        outcomes[name] = (outcomes[name] ?? 0) + 1;
      }
    };
    // `fetch` of Node 20 holds some of its objects weakly.
    let collecting: NodeJS.Timeout;
    const collect = () => {
      const began = performance.now();
      collectGarbage();
      // A process of jest may have a large heap. Collecting takes a tenth of the time at most.
      collecting = setTimeout(collect, Math.max(500, 10 * (performance.now() - began)));
    };
    collecting = setTimeout(collect, 500);
    await Promise.all(servers.map(client)).finally(() => clearTimeout(collecting));
    expect(longestMs).toBeLessThan(generousMs);
    expect(heapMb() - before).toBeLessThan(60);
    // An idle connection lasts for some seconds.
    await eventually(() => servers.every(({ open }) => open === 0), { what: 'no connection is open' });
    return outcomes;
  }

  it('a siteverify provider: each answer is a verdict or no verdict, and none accepts unless its success is true', async () => {
    const texts = [
      '{"success":true,"hostname":"a"}',
      '{"success":false,"error-codes":["timeout-or-duplicate"]}',
      // No booleans, and so no verdicts.
      '{"success":"true"}',
      '{"success":"false"}',
      '{"success":1}',
      '{}',
      '',
    ];
    const outcomes = await askAll(
      () => baseAnswer(numbers, [200, 200, 200, 200, 301, 400, 429, 503], numbers.pick(texts), 'application/json'),
      (verifyUrl) => {
        const provider = new SiteverifyProvider('turnstile', { secret: 'a-secret', verifyUrl }, {});
        return () => provider.judge('a-token', '203.0.113.7', limitMs);
      },
      ({ verdict, reason }, { bytes, isPlain }) => {
        expect(['accepted', 'rejected', 'unavailable']).toContain(verdict);
        if (reason !== undefined && verdict === 'unavailable') expect(reason).toMatch(plainWord);
        if (verdict === 'accepted' && isPlain) expect(bytes.toString('latin1')).toMatch(/"success"\s*:\s*true/);
      },
    );
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['{"verdict":"accepted"}', '{"verdict":"rejected"}']));
    expect(Object.keys(outcomes).length).toBeGreaterThan(5);
  });

  it('a list of breached passwords: each answer is read or passed over, and none without the hash refuses', async () => {
    const password = 'Correct-Horse-7';
    const lines = [lineOf(password, 7), lineOf(password, 0), lineOf('another', 3), lineOf('a third', '00000012')];
    const outcomes = await askAll(
      () => {
        const some = lines.filter(() => numbers.chance(60));
        return baseAnswer(
          numbers,
          [200, 200, 200, 200, 301, 404, 503],
          some.join(numbers.pick(['\r\n', '\n'])),
          'text/plain',
        );
      },
      (PASSWORD_BREACH_URL) => {
        const breached = new BreachedPasswords(settings({ PASSWORD_BREACH_URL }).passwords);
        return () => breached.includes(password);
      },
      (isBreached, { bytes, isPlain }) => {
        if (isBreached && isPlain) expect(bytes.toString('latin1').toUpperCase()).toContain(sha1(password).slice(5));
      },
    );
    expect(Object.keys(outcomes).sort()).toEqual(['false', 'true']);
  });

  it('a receiver of webhooks: each answer is taken as said by its status, or as a failure to try again', async () => {
    const outcomes = await askAll(
      () =>
        baseAnswer(
          numbers,
          [200, 202, 204, 301, 400, 410, 500],
          numbers.pick(['', 'ok', 'x'.repeat(30_000)]),
          'text/plain',
        ),
      (WEBHOOK_URL) => {
        const clock = new FakeClock();
        const webhook = new Webhook(settings({ WEBHOOK_URL, WEBHOOK_SECRET: webhookSecret }).events, clock);
        const event = { id: 1, eventId: 'an-event', type: 'user.unlocked', payload: '{}', createdAt: clock.now() };
        return () => webhook.post(event, AbortSignal.timeout(limitMs));
      },
      (failure, { bytes }) => {
        if (failure === undefined) expect(bytes.toString('latin1')).toMatch(/HTTP\/\d\.\d 2\d\d/);
        else expect(failure).toMatch(plainWord);
      },
    );
    expect(outcomes.undefined).toBeGreaterThan(answers / 10);
    expect(Object.keys(outcomes).length).toBeGreaterThan(5);
  });
});
