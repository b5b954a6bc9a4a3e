import { isPlainText, plainTextOf } from './plain-text';

describe('text that is shown as a name', () => {
  it.each([
    ['NUL', '\0'],
    ['a line feed', '\n'],
    ['a carriage return', '\r'],
    ['an escape', '\u001B'],
    ['a C1 control', '\u0085'],
    ['a line separator', '\u2028'],
    ['a paragraph separator', '\u2029'],
    ['an Arabic letter mark', '\u061C'],
    ['a right-to-left mark', '\u200F'],
    ['an override of the direction', '\u202E'],
    ['an isolate', '\u2066'],
    ['the end of an isolate', '\u2069'],
    ['half of a character', '\uD83D'],
    ['a noncharacter', '\uFFFE'],
  ])('has not %s', (_what, character) => {
    expect(isPlainText(`ad${character}min`)).toBe(false);
    expect(plainTextOf(`ad${character}min${character}`)).toBe('admin');
  });

  it.each([
    ['Arabic', 'محمد علي'],
    ['Hebrew', 'דוד'],
    ['Persian with a non-joiner', 'می\u200Cخواهم'],
    ['an emoji with joiners', '👩\u200D👩\u200D👧'],
    ['Devanagari with a joiner', 'क्\u200Dष'],
    ['Chinese', '张伟'],
    ['Latin with a combining mark', 'Zoe\u0308'],
  ])('keeps %s', (_what, text) => {
    expect(isPlainText(text)).toBe(true);
    expect(plainTextOf(text)).toBe(text);
  });
});
