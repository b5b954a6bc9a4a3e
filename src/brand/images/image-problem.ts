/** The image cannot be taken. The message says what must be different, for the person who chose it. */
export class ImageProblem extends Error {
  override readonly name = 'ImageProblem';
}

/** A small file can fill the memory of a browser. */
export const longestSide = 4096;

export function assertSides(width: number, height: number): void {
  if (width < 1 || height < 1 || width > longestSide || height > longestSide) {
    throw new ImageProblem(`must be 1 to ${longestSide} pixels wide and high`);
  }
}
