import { costOf, dummyHash, saltOf } from './bcrypt-format';

const HASH = '$2b$10$abcdefghijklmnopqrstuuAHZ3vIWkvGvBwuOZaMbGSqMcRKyMO3W';

describe('the format of a bcrypt hash', () => {
  it.each(['2a', '2b', '2y'])('reads the cost of a $%s$ hash', (version) => {
    expect(costOf(HASH.replace('2b', version))).toBe(10);
  });

  it.each([
    ['an empty text', ''],
    ['plain text', 'secret'],
    ['another scheme', '$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA'],
    ['the broken $2x$', HASH.replace('2b', '2x')],
    ['a cost with a sign', HASH.replace('$10$', '$+4$')],
    ['a cost below 4', HASH.replace('$10$', '$03$')],
    ['a cost over 31', HASH.replace('$10$', '$32$')],
    ['a hash cut short', HASH.slice(0, -1)],
    ['a line break at the end', `${HASH}\n`],
    ['a character outside the alphabet', HASH.replace('A', '+')],
  ])('%s is not a bcrypt hash and has no cost', (_case, text) => {
    expect(costOf(text)).toBeNull();
  });

  it('the salt is the first 29 characters: prefix, cost and salt', () => {
    expect(saltOf(HASH)).toBe('$2b$10$abcdefghijklmnopqrstuu');
  });

  it.each([4, 10, 14])('a dummy of cost %i is a well-formed hash of that cost', (cost) => {
    expect(costOf(dummyHash(cost))).toBe(cost);
  });
});
