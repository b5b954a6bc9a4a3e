import { EventEmitter } from 'node:events';
import { FakeClock } from '../../../test/support/fakes';
import { RedisUsedProofs } from './redis-used-proofs';

/** Stands for Redis, which gets only `SET key value PX milliseconds NX`. */
class Memory extends EventEmitter {
  readonly lives = new Map<string, number>();

  set(key: string, _value: number, _unit: 'PX', milliseconds: number): Promise<'OK' | null> {
    if (this.lives.has(key)) return Promise.resolve(null);
    this.lives.set(key, milliseconds);
    return Promise.resolve('OK');
  }
}

describe('the memory of proofs in Redis', () => {
  const clock = new FakeClock();
  const redis = new Memory();
  const proofs = Reflect.construct(RedisUsedProofs, [redis, clock]) as RedisUsedProofs;

  it('keeps a proof until every replica refuses it as too old, and no longer', async () => {
    expect(await proofs.use({ id: 'a', forgottenAfter: clock.secondsFromNow(180) })).toBe(true);
    expect(await proofs.use({ id: 'a', forgottenAfter: clock.secondsFromNow(180) })).toBe(false);
    expect(redis.lives.get('proof:a')).toBe(180_000);
  });

  it('keeps a proof of a clock that is slow for a moment: Redis knows no life of zero', async () => {
    expect(await proofs.use({ id: 'b', forgottenAfter: clock.secondsFromNow(-1) })).toBe(true);
    expect(redis.lives.get('proof:b')).toBe(1);
  });
});
