import { caseFold } from './case-fold';

describe('case folding for comparisons', () => {
  it.each([
    ['Alice', 'aLICE'],
    ['full width', 'ＦＵＬＬ　ＷＩＤＴＨ'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδος'],
    ['ﬁnance', 'FINANCE'],
    ['Zoe\u0308', 'ZOË'],
    ['al\u200bice', 'alice'],
    ['al\u00adice', 'alice'],
    ['ſecret', 'SECRET'],
  ])('%j and %j are equal', (one, other) => expect(caseFold(one)).toBe(caseFold(other)));

  it.each([
    ['zoe', 'zoë'],
    ['alice', 'alicia'],
    ['a b', 'ab'],
  ])('%j and %j differ', (one, other) => expect(caseFold(one)).not.toBe(caseFold(other)));
});
