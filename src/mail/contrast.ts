/** WCAG 2.2, success criterion 1.4.3: text of normal size. */
export const leastContrast = 4.5;

/**
 * The contrast ratio of white text on a background (WCAG 2.2, "contrast ratio" and "relative luminance").
 * @param color `#rrggbb`
 * @returns 1 to 21
 */
export function contrastWithWhite(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  );
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

const linear = (channel: number): number => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
