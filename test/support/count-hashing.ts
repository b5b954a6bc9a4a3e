import { costOf } from '../../src/hashing/bcrypt-format';
import { BcryptPasswordHasher } from '../../src/hashing/bcrypt-password-hasher';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import type { TestService } from './app';

export interface Hashing {
  /** Jobs of the hash queue. */
  readonly jobs: number;
  /** Rounds of bcrypt, 2 to the power of the cost. The time of a hash is proportional to its rounds. */
  readonly rounds: number;
}

/** Returns a function that counts the hashing of one call. Its calls must not overlap. */
export function countHashing(service: TestService): (run: () => Promise<unknown>) => Promise<Hashing> {
  const hasher = service.app.get<BcryptPasswordHasher>(PasswordHasher);
  const engine = hasher['engine'];
  let rounds = 0;
  const count = (...hashes: string[]) => hashes.forEach((hash) => (rounds += 2 ** (costOf(hash) ?? 0)));
  const { verify, verifyPair, hash } = engine;
  jest.spyOn(engine, 'verify').mockImplementation((password, stored) => {
    count(stored);
    return verify(password, stored);
  });
  jest.spyOn(engine, 'verifyPair').mockImplementation((first, second) => {
    count(first.hash, second.hash);
    return verifyPair(first, second);
  });
  jest.spyOn(engine, 'hash').mockImplementation((password, cost) => {
    rounds += 2 ** cost;
    return hash(password, cost);
  });
  return async (run) => {
    const before = { jobs: hasher.stats().completed, rounds };
    await run();
    return { jobs: hasher.stats().completed - before.jobs, rounds: rounds - before.rounds };
  };
}
