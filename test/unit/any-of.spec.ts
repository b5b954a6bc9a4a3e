import { AnyOf } from '../support/any-of';

describe('the search for any of many texts', () => {
  const texts = ['Correct-Horse-1', 'Correct-Horse-1-and-more', 'Correct-Horse', '[12345678]', 'äöüÄÖÜßé', 'aaaaaaaab'];

  it.each(texts)(
    'finds %s at the beginning, in the middle and at the end, and nothing that differs in one character',
    (text) => {
      for (const whole of [text, `${text} x`, `x ${text} x`, `x ${text}`]) {
        expect(whole).toContain(new AnyOf(texts).in(whole));
        expect(new AnyOf([text]).in(whole)).toBe(text);
        for (let at = 0; at < text.length; at++) {
          const other = whole.replace(text, `${text.slice(0, at)}~${text.slice(at + 1)}`);
          expect(new AnyOf([text]).in(other)).toBeUndefined();
        }
      }
    },
  );

  it('finds a text behind one that begins alike', () => {
    expect(new AnyOf(texts).in('aaaaaaaaaaaaaaaaaaaab')).toBe('aaaaaaaab');
    expect(new AnyOf(texts).in('Correct-Hors! Correct-Horse-2')).toBe('Correct-Horse');
  });

  it('refuses a text that is too short to be looked for', () => {
    expect(() => new AnyOf(['1234567'])).toThrow('8 characters');
  });
});
