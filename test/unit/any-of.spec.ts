import { AnyOf } from '../support/any-of';

describe('the search for any of many texts', () => {
  const find = (known: readonly string[], text: string) =>
    new AnyOf(new Map(known.map((one, n) => [one, `origin ${n}`]))).in(text);
  const texts = ['Correct-Horse-1', 'Correct-Horse-1-and-more', 'Correct-Horse', '[12345678]', 'äöüÄÖÜßé', 'aaaaaaaab'];

  it.each(texts)(
    'finds %s at the beginning, in the middle and at the end, and nothing that differs in one character',
    (text) => {
      for (const whole of [text, `${text} x`, `x ${text} x`, `x ${text}`]) {
        expect(whole).toContain(find(texts, whole)?.text);
        expect(find([text], whole)).toEqual({ text, origin: 'origin 0' });
        for (let at = 0; at < text.length; at++) {
          const other = whole.replace(text, `${text.slice(0, at)}~${text.slice(at + 1)}`);
          expect(find([text], other)).toBeUndefined();
        }
      }
    },
  );

  it('finds a text behind one that begins alike', () => {
    expect(find(texts, 'aaaaaaaaaaaaaaaaaaaab')?.text).toBe('aaaaaaaab');
    expect(find(texts, 'Correct-Hors! Correct-Horse-2')?.text).toBe('Correct-Horse');
  });

  it('refuses a text that is too short to be looked for', () => {
    expect(() => find(['1234567'], '')).toThrow('8 characters');
  });
});
