import { KeyRing } from '../../platform/crypto/key-ring';
import type { Repository } from 'typeorm';
import type { Database } from '../../platform/database/database';
import { Clock } from '../../shared/clock';
import { SystemRandom } from '../../shared/random';
import type { PasskeyChallenge } from './passkey-challenge.entity';
import { PasskeyChallenges } from './passkey-challenge.repository';

class TestClock extends Clock {
  time = Date.parse('2026-03-02T10:00:00.000Z');
  now = () => new Date(this.time);
}

const [former, current] = [Buffer.alloc(32, 'former'), Buffer.alloc(32, 'current')];

describe('a challenge', () => {
  const clock = new TestClock();
  const random = new SystemRandom();
  const [noRows, noDatabase] = [] as unknown as [Repository<PasskeyChallenge>, Database];
  /** A replica with these data keys. */
  const replica = (...dataKeys: Buffer[]) =>
    new PasskeyChallenges(noRows, noDatabase, new KeyRing({ dataKeys }, random), random, clock);
  const answerTo = (challenge: unknown) => ({
    response: { clientDataJSON: Buffer.from(JSON.stringify({ challenge })).toString('base64url') },
  });

  it('is accepted by another replica, for its subject only (T295)', () => {
    const text = replica(current).issue('login:1');
    expect(replica(current).answeredBy(answerTo(text), 'login:1')).toMatchObject({ text });
    for (const subject of ['login:2', 'login:', 'register:1', '']) {
      expect(replica(current).answeredBy(answerTo(text), subject)).toBeUndefined();
    }
  });

  it('is accepted while the data keys are rotated, and not when its key is gone', () => {
    const text = replica(former).issue('x');
    expect(replica(current, former).answeredBy(answerTo(text), 'x')).toBeDefined();
    expect(replica(current).answeredBy(answerTo(text), 'x')).toBeUndefined();
  });

  it('ends after 300 seconds, to the millisecond', () => {
    const text = replica(current).issue('x');
    clock.time += 300_000;
    expect(replica(current).answeredBy(answerTo(text), 'x')).toMatchObject({ expires: clock.now() });
    clock.time += 1;
    expect(replica(current).answeredBy(answerTo(text), 'x')).toBeUndefined();
  });

  it('is another one each time', () => {
    const challenges = replica(current);
    expect(new Set(Array.from({ length: 1000 }, () => challenges.issue('x'))).size).toBe(1000);
  });

  it('is refused when any of its bytes is another one, one is missing, or one too many (T295)', () => {
    const challenges = replica(current);
    const bytes = Buffer.from(challenges.issue('x'), 'base64url');
    for (let n = 0; n < bytes.length; n++) {
      const changed = Buffer.from(bytes);
      changed[n] = changed[n]! ^ 1;
      expect(challenges.answeredBy(answerTo(changed.toString('base64url')), 'x')).toBeUndefined();
    }
    for (const other of [bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)]), Buffer.alloc(0)]) {
      expect(challenges.answeredBy(answerTo(other.toString('base64url')), 'x')).toBeUndefined();
    }
  });

  it.each([
    {},
    { response: null },
    { response: 5 },
    { response: 'text' },
    { response: {} },
    { response: { clientDataJSON: 5 } },
    { response: { clientDataJSON: '' } },
    { response: { clientDataJSON: 'bnVsbA' } },
    answerTo(undefined),
    answerTo(null),
    answerTo(5),
    answerTo(['x']),
    answerTo('ä'),
  ])('of the response %j is none', (response) => expect(replica(current).answeredBy(response, 'x')).toBeUndefined());
});
