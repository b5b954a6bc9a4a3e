import { contrastWithWhite } from './contrast';

// The contrasts are from the examples of WCAG 2.2 and its understanding documents.
it.each([
  ['#000000', 21],
  ['#ffffff', 1],
  ['#767676', 4.54],
  ['#777777', 4.48],
  ['#0000ff', 8.59],
  ['#ff0000', 4],
])('white text on %s has the contrast %d', (color, contrast) => {
  expect(contrastWithWhite(color)).toBeCloseTo(contrast, 2);
});
