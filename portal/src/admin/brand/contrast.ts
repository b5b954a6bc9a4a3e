/** White text of normal size needs it (WCAG 2.2, success criterion 1.4.3). The service demands it too. */
export const leastContrast = 4.5;

/** The contrast of white text on `#rrggbb`, rounded down to two places. Undefined for another text. */
export function contrastOf(color: string): number | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return undefined;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => linear(parseInt(color.slice(at, at + 2), 16) / 255));
  return Math.floor((1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)) * 100) / 100;
}

const linear = (channel: number): number => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
