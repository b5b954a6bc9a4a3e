/** Without case and accents: "Müller" is found by "muller". */
const plain = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase().replace(/ß/g, 'ss');

/** Scripts without spaces between the words, for example Chinese, match anywhere. */
const spaceless = /\p{Script=Han}/u;

/** Whether each word of the query begins a word of the text. */
export function matches(text: string, query: string): boolean {
  const whole = plain(text);
  const words = whole.split(/[^\p{L}\p{N}]+/u);
  return plain(query)
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => (spaceless.test(word) ? whole.includes(word) : words.some((one) => one.startsWith(word))));
}

/** The index after a key, around the end. Undefined: the key does not move. */
export function moved(key: string, index: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (index + 1) % count;
  if (key === 'ArrowUp') return (index - 1 + count) % count;
  if (key === 'PageDown') return Math.min(index + 8, count - 1);
  if (key === 'PageUp') return Math.max(index - 8, 0);
  return undefined;
}
