import { type Challenge, type Payload, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { Random, SystemRandom } from '../../shared/random';
import { KeyRing } from '../../platform/crypto/key-ring';
import { settings } from '../../../test/support/captcha/harness';
import { FakeClock } from '../../../test/support/fakes';
import { dataKey } from '../../../test/support/settings';
import { AltchaChallenges } from './altcha-challenges';

/** Makes the counter 1 + 4, so that the challenge is solved at once. */
class LowNumbers extends SystemRandom {
  override bytes(count: number): Buffer {
    return Buffer.alloc(count, 0).fill(4, count - 1);
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

describe('AltchaChallenges', () => {
  let clock: FakeClock;
  let challenges: AltchaChallenges;

  beforeEach(() => {
    clock = new FakeClock(new Date());
    challenges = challengesWith(dataKey('k'));
  });

  function challengesWith(keys: string, random: Random = new LowNumbers()): AltchaChallenges {
    return new AltchaChallenges(new KeyRing(settings({ DATA_ENCRYPTION_KEY: keys }), random), clock, random);
  }

  async function solve(challenge: Challenge): Promise<Payload> {
    const solution = await solveChallenge({ challenge, deriveKey });
    return { challenge, solution: solution! };
  }

  async function check(payload: unknown, by = challenges) {
    const read = by.read(encode(payload));
    return read === undefined ? undefined : by.check(read);
  }

  it('accepts the solution of a challenge until five minutes after the challenge was issued', async () => {
    const challenge = await challenges.issue();
    expect(challenge.parameters).toMatchObject({ algorithm: 'PBKDF2/SHA-256', cost: 2000, keyLength: 32 });
    const payload = await solve(challenge);
    expect(encode(payload).length).toBeLessThan(2048);
    expect(await check(payload)).toEqual({
      identity: `altcha:${challenge.signature}`,
      expires: new Date(challenge.parameters.expiresAt! * 1000),
    });
    clock.advanceSeconds(298);
    expect(await check(payload)).toBeDefined();
    clock.advanceSeconds(2);
    expect(await check(payload)).toBeUndefined();
  });

  it('makes the amount of work random, at least 1 and at most 2000 derivations', async () => {
    const counterOf = async (bytes: number) => {
      const fixed = Object.assign(new SystemRandom(), { bytes: (count: number) => Buffer.alloc(count, bytes) });
      const { challenge, solution } = await solve(await challengesWith(dataKey('k'), fixed).issue());
      expect(challenge.parameters.keyPrefix).toHaveLength(32);
      return solution.counter;
    };
    expect(await counterOf(0)).toBe(1);
    expect(await counterOf(0xff)).toBe(1 + (0xffffffff % 2000));
  });

  it('gives every encoding of a solution the same identity', async () => {
    const payload = await solve(await challenges.issue());
    const { parameters, signature } = payload.challenge;
    const respelled = [
      { ...payload, solution: { ...payload.solution, time: 1 } },
      { ...payload, extra: 'x' },
      {
        challenge: { signature, parameters: Object.fromEntries(Object.entries(parameters).reverse()) },
        solution: payload.solution,
      },
    ];
    for (const one of respelled) expect((await check(one))?.identity).toBe(`altcha:${signature}`);
    for (const one of [
      { ...payload, challenge: { parameters, signature: signature!.toUpperCase() } },
      { ...payload, solution: { ...payload.solution, derivedKey: payload.solution.derivedKey.toUpperCase() } },
    ]) {
      expect(await check(one)).toBeUndefined();
    }
  });

  it('refuses a tampered challenge or solution and never throws', async () => {
    const payload = await solve(await challenges.issue());
    const { challenge, solution } = payload;
    const parameters = (change: object) => ({
      challenge: { ...challenge, parameters: { ...challenge.parameters, ...change } },
      solution,
    });
    const easier = await solve({ ...challenge, parameters: { ...challenge.parameters, keyPrefix: '00' } });
    for (const tampered of [
      parameters({ expiresAt: challenge.parameters.expiresAt! + 3600 }),
      parameters({ expiresAt: undefined }),
      parameters({ expiresAt: '9999999999' }),
      parameters({ cost: 1 }),
      parameters({ keySignature: undefined }),
      parameters({ data: { a: 1 } }),
      easier,
      { challenge: { parameters: challenge.parameters }, solution },
      { challenge: { ...challenge, signature: null }, solution },
      { challenge: { ...challenge, signature: [challenge.signature] }, solution },
      { challenge: { ...challenge, signature: '0'.repeat(64) }, solution },
      { challenge: { ...challenge, parameters: null }, solution },
      { challenge: { ...challenge, parameters: [] }, solution },
      { challenge, solution: {} },
      { challenge, solution: { ...solution, derivedKey: 5 } },
      { challenge, solution: { ...solution, derivedKey: '' } },
      { challenge, solution: { ...solution, derivedKey: 'zz' } },
      { challenge, solution: { ...solution, derivedKey: challenge.parameters.keyPrefix } },
      { challenge, solution: { ...solution, counter: '5' } },
      { challenge, solution: { ...solution, counter: -1 } },
    ]) {
      expect([tampered, await check(tampered)]).toEqual([tampered, undefined]);
    }
    expect(await check(payload)).toBeDefined();
  });

  it.each([
    ['a Turnstile token', '0.zrSnRHO7h0HwSjSCU8oyzbjEtD8p.d62306d4ee00dda690f959ac7ebbd0bd'],
    ['base64 of something else', encode('text')],
    ['base64 of an array', encode([{ challenge: {}, solution: {} }])],
    ['base64 of null', encode(null)],
    [
      'a solution of the former altcha widget',
      encode({ algorithm: 'SHA-256', challenge: 'x', number: 1, salt: 's', signature: 'y' }),
    ],
    ['the widget in its test mode', encode({ challenge: null, solution: null, test: true })],
    ['JSON itself', '{"challenge":{},"solution":{}}'],
    ['truncated base64', encode({ challenge: {}, solution: {} }).slice(0, 20)],
    ['JSON nested as deeply as the length of a token allows', Buffer.from('['.repeat(1500)).toString('base64')],
  ])('%s is not recognised as an altcha solution', (_case, token) => {
    expect(challenges.read(token)).toBeUndefined();
  });

  it('accepts a solution as long as the key that signed its challenge is in DATA_ENCRYPTION_KEY', async () => {
    const payload = await solve(await challenges.issue());
    expect(await check(payload, challengesWith(`${dataKey('n')},${dataKey('k')}`))).toBeDefined();
    expect(await check(payload, challengesWith(dataKey('n')))).toBeUndefined();
  });
});
