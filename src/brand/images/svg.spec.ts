import { svgOf } from '../../../test/support/images';
import { ImageProblem } from './image-problem';
import { assertSvg } from './svg';

const judge = (content: string | Buffer) => () => assertSvg(Buffer.from(content));
const pathOf = (length: number) => `M0 0${'h1'.repeat(length / 2)}`;
/** Each level is drawn ten times by the one above it. */
const levels = (level: (n: number) => string) => [...Array(9).keys()].map(level).join('');

describe('an SVG as editors write it is taken', () => {
  it.each([
    [
      'a style sheet with gradients that build on each other, and a clip path',
      `<defs><style>.a,.b{fill:none}.b{fill:url(#g2);}.c{clip-path:url(#p)}</style>
        <clipPath id="p"><rect class="a" width="4" height="4"/></clipPath>
        <linearGradient id="g"><stop offset="0" stop-color="#f00"/></linearGradient>
        <linearGradient id="g2" xlink:href="#g" gradientTransform="translate(1 1)"/></defs>
        <g class="c"><path class="b" d="M0 0h4v4z"/></g>`,
    ],
    [
      'a mask in a mask, and a clip path by attribute',
      `<mask id="m"><path fill="#fff" d="M0 0h4"/></mask><mask id="n" mask-type="alpha"><g mask="url(#m)"><path d="M0 0h4"/></g></mask>
        <g mask="url(#n)" clip-path="url(&quot;#c&quot;)"><path d="M0 0h4"/></g><clipPath id="c"><path d="M0 0h4"/></clipPath>`,
    ],
    [
      'a pattern',
      '<pattern id="p" width="1" height="1"><path d="M0 0h1"/></pattern><path fill="url(#p)" d="M0 0h4v4z"/>',
    ],
    ['a custom property', '<path style="fill:var(--brand, rgb(1 2 3))" d="M0 0h4v4z"/>'],
    ['2,000 paths', '<path d="M0 0h4v4z" fill="#123456"/>'.repeat(2_000)],
    ['a path of 200,000 characters', `<path d="${pathOf(200_000)}"/>`],
  ])('with %s', (_what, content) => {
    expect(judge(svgOf(content))).not.toThrow();
  });

  it('with a declaration', () => {
    expect(judge(`<?xml version="1.0" encoding="utf-8"?>\n<!-- Made by hand -->\n${svgOf('')}`)).not.toThrow();
  });
});

describe('an SVG that refers to something outside is refused (T643, T644)', () => {
  const outside = 'url(https://evil.example/x.svg#a)';
  it.each([
    ['inside of another function', `<path style="fill:var(--a, ${outside})" d="M0 0"/>`],
    ['inside of another function, in a style sheet', `<style>.a{fill:var(--a,${outside})}</style>`],
    [
      'in a word that an element inside of the style sheet parts',
      '<style>.a{fill:ur<g> hs</g>l(https://evil.example)}</style>',
    ],
    ['behind a reference to a part', `<path fill="url(#a) ${outside}" d="M0 0"/>`],
    ['without an end', '<path fill="url(https://evil.example/x" d="M0 0"/>'],
    ['as data', '<use href="data:image/svg+xml,x#a"/>'],
    ['as data in CSS', '<path fill="url(data:image/svg+xml,x#a)" d="M0 0"/>'],
    ['in a name space of its own', '<use xmlns:y="http://www.w3.org/1999/xlink" y:href="//evil.example/x#a"/>'],
    ['by a base', '<g xml:base="https://evil.example/"/>'],
  ])('%s', (_where, content) => {
    expect(judge(svgOf(content))).toThrow(ImageProblem);
  });
});

describe('an SVG that draws too much is refused (T645)', () => {
  const ten = (id: number) => `<use href="#g${id}"/>`.repeat(10);
  it.each([
    [
      'by a name that is used twice',
      `<g id="g0"/>${levels((n) => `<g id="g${n + 1}"><g id="g${n + 1}"/>${ten(n)}</g>`)}${ten(9)}`,
    ],
    [
      'by a name that is written in another way',
      `<g id="g0"/>${levels((n) => `<g id="g${n + 1}">${ten(n).replaceAll('#g', '#%67')}</g>`)}`,
    ],
    [
      'by masks of classes',
      `<style>${levels((n) => `.c${n + 1}{mask:url(#m${n})}`)}</style>${levels((n) => `<mask id="m${n}">${`<path class="c${n}" d="M0 0"/>`.repeat(10)}</mask>`)}<path class="c9" d="M0 0"/>`,
    ],
    ['by a rule that is not for classes', '<style>g > path{mask:url(#m)}</style><mask id="m"><path d="M0 0"/></mask>'],
    [
      'by a rule inside of a rule',
      '<style>.a{mask:url(#m); .b{fill:#fff}}</style><mask id="m"><path d="M0 0"/></mask>',
    ],
    [
      'by patterns that descendants inherit',
      levels((n) => `<pattern id="p${n + 1}"><g fill="url(#p${n})">${'<path d="M0 0"/>'.repeat(10)}</g></pattern>`),
    ],
    ['by a long path that is drawn often', `<path id="p" d="${pathOf(100_000)}"/>${'<use href="#p"/>'.repeat(1_000)}`],
    ['by markers, one at each corner', '<marker id="m"/>'],
  ])('%s', (_how, content) => {
    expect(judge(svgOf(content))).toThrow(ImageProblem);
  });
});

describe('an SVG that takes long to judge is refused, or judged in no time (T645)', () => {
  const [size, many] = [256 * 1024, 4_900];
  const nested = `${[...Array(many).keys()].map((id) => `<g id="i${id}">`).join('')}${'</g>'.repeat(many)}`;
  const all = [...Array(many).keys()].map((id) => `url(#i${id})`).join(' ');

  // Each took between half a minute and two minutes once, so the time-out of the test is the bound.
  it('a word as long as the file', () => {
    expect(judge(svgOf(`<style>${'a'.repeat(size - 300)}</style>`))).not.toThrow();
  });
  it('a style sheet that names each of many elements inside each other', () => {
    expect(judge(svgOf(`<style>${all}</style>${nested}`))).toThrow(ImageProblem);
  });
  it('T712 a rule of many classes with many references, which would fill the memory', () => {
    const [ids, names] = [[...Array(500).keys()], [...Array(2_000).keys()].map((n) => `.c${n}`).join()];
    const rule = `${names}{fill:${ids.map((id) => `url(#i${id})`).join(' ')}}`;
    expect(judge(svgOf(`<style>${rule}</style>${ids.map((id) => `<g id="i${id}"/>`).join('')}`))).toThrow(ImageProblem);
  });
  it('T719 thousands of name spaces around thousands of elements, before they are parsed', () => {
    const spaces = [...Array(4_000).keys()].map((n) => `xmlns:a${n}="x"`).join(' ');
    const inside = '<g xmlns:z="x">'.repeat(4_000) + '</g>'.repeat(4_000);
    expect(judge(svgOf(`<g ${spaces}>${inside}</g>`))).toThrow(/at most 200 declarations/);
  });
  it('more elements than can be drawn, before they are parsed', () => {
    expect(judge(svgOf('<g>'.repeat(size / 8) + '</g>'.repeat(size / 8)))).toThrow(/at most 5000 elements/);
  });
});

it.each(['UTF-7', 'UTF-16', 'iso-2022-jp'])(
  'an SVG that declares %s is refused, however it writes that (T647)',
  (name) => {
    for (const equals of ['=', ' = ', '\n=\t']) {
      expect(judge(`<?xml version="1.0" encoding${equals}"${name}"?>${svgOf('')}`)).toThrow(/UTF-8/);
    }
  },
);

it('an SVG in UTF-16 is refused (T647)', () => {
  expect(judge(Buffer.from(`\ufeff${svgOf('')}`, 'utf16le'))).toThrow(/UTF-8/);
});
