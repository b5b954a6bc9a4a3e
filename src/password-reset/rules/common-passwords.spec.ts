import { CommonPasswords } from './common-passwords';

describe('the list of common passwords', () => {
  const common = new CommonPasswords();

  it.each([
    ['as it is on the list', 'letmein'],
    ['in another case', 'LetMeIn'],
    ['in full-width letters', 'ｌｅｔｍｅｉｎ'],
    ['with an invisible character', 'let\u200bmein'],
    ['with digits and a sign at the end', 'Password-2026!'],
    ['with signs at both ends', '!!Sunshine2024'],
    ['with Arabic digits at the end', 'Password٢٠٢٦'],
    ['of digits only', '123456789'],
    ['with letters and digits', '1qaz2wsx3edc'],
    ['with a sign inside', 'P@ssw0rd'],
  ])('refuses a listed password %s (%s)', async (_how, password) => {
    expect(await common.includes(password)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['the password of the tests', 'Correct-Horse-7'],
    ['a long random end is worth more than the word before it', 'Monkey 4711 0815 1234'],
    ['another script', '这是一个很长的密码字符串1'],
    ['a line break between two entries of the list', '123456\npassword'],
    ['a quotation mark', '","'],
    ['a part of an entry', 'etmei'],
    ['a listed word with a sign inside that the list does not have', 'mon.key'],
    ['signs only', '!?!?!?!?!?!?'],
  ])('accepts %s (%j)', async (_what, password) => {
    expect(await common.includes(password)).toBe(false);
  });
});
