import { containsOwnData } from './own-data';

const owner = { loginName: 'a.turing', nickname: 'Alan Straße', email: 'enigma+work@example.com' };

describe('the rule that forbids the names of the owner', () => {
  it.each([
    ['the login name', 'Xy7-a.turing-Xy7'],
    ['the login name in another case', 'Xy7-A.TURING-Xy7'],
    ['the login name in full-width letters', 'Xy7-ａ．ｔｕｒｉｎｇ'],
    ['the login name with an invisible character', 'Xy7-a.tur\u200bing'],
    ['the nickname', 'alan straße 1234'],
    ['the nickname in capitals', 'ALAN STRASSE 1234'],
    ['the local part of the e-mail address', 'Enigma+Work-1'],
  ])('refuses %s', (_what, password) => expect(containsOwnData(password, owner)).toBe(true));

  it.each([
    ['another password', 'Correct-Horse-7'],
    ['the domain of the e-mail address', 'Example.com-7-Horse'],
    ['a part of a name', 'Xy7-a.turin-Xy7'],
  ])('accepts %s', (_what, password) => expect(containsOwnData(password, owner)).toBe(false));

  it.each([
    ['three characters', 'ann', false],
    ['four characters', 'anna', true],
    ['two characters of four units', '🐎🐎', false],
    ['spaces around three characters', ' ann ', false],
  ])('a name of %s (%j) is forbidden: %s', (_what, loginName, forbidden) => {
    const password = `Xy7-${loginName.trim()}-Xy7-Horse`;
    expect(containsOwnData(password, { loginName, nickname: null, email: null })).toBe(forbidden);
  });

  it('a user without a nickname and an address has a login name only', () => {
    expect(containsOwnData('Correct-Horse-7', { loginName: 'alice', nickname: '', email: null })).toBe(false);
  });

  it('the case of Greek, Turkish and German letters does not matter', () => {
    const named = (loginName: string) => ({ loginName, nickname: null, email: null });
    expect(containsOwnData('ΟΔΟΣ-Xy7-Horse', named('οδος'))).toBe(true);
    expect(containsOwnData('xy7ΟΔΟΣαβ', named('Οδος'))).toBe(true);
    expect(containsOwnData('GROSSMANN-7-horse', named('großmann'))).toBe(true);
    expect(containsOwnData('YILDIZ-7-horse', named('yıldız'))).toBe(true);
  });
});
