import type { Element } from '@xmldom/xmldom';
import { ImageProblem } from './image-problem';

export const mostElements = 5_000;
const mostDrawn = 50_000;
const deepest = 100;
/** So many characters of attributes count as one more shape: a long path takes longer to draw than a short one. */
const charactersOfShape = 100;

/**
 * An element can be drawn by reference, and what is referred to can refer further: ten lines then draw a billion shapes. Counts
 * what the image draws with every reference followed, and refuses a circle of them.
 * @throws ImageProblem
 */
export function assertDrawable(elements: readonly Element[]): void {
  if (elements.length > mostElements) throw tooManyElements();
  const targetsOf = references(elements);
  const counted = new Map<Element, number>();
  const open = new Set<Element>();
  let followed = 0;
  const count = (element: Element): number => {
    const known = counted.get(element);
    if (known !== undefined) return known;
    if (open.has(element) || open.size > deepest) throw tooMuch();
    open.add(element);
    const targets = targetsOf(element);
    if ((followed += targets.length) > mostDrawn) throw tooMuch();
    // Descendants inherit a pattern, so each of them is painted with it.
    const patterns = targets.filter(({ localName }) => localName === 'pattern');
    const parts = targets.filter((target) => !patterns.includes(target)).concat(Array.from(element.children));
    const sum = (all: readonly Element[], first: number) => all.reduce((total, one) => total + count(one), first);
    const drawn = sum(parts, weightOf(element)) * sum(patterns, 1);
    if (drawn > mostDrawn) throw tooMuch();
    open.delete(element);
    counted.set(element, drawn);
    return drawn;
  };
  for (const element of elements) count(element);
}

const tooMuch = () => new ImageProblem('is too large to draw, or its parts refer to each other in a circle');

export const tooManyElements = () => new ImageProblem(`must have at most ${mostElements} elements`);

const weightOf = ({ attributes }: Element): number =>
  1 + Array.from(attributes).reduce((length, { value }) => length + value.length, 0) / charactersOfShape;

/** What each element refers to, by itself or by its class. Gradients are left out: they draw nothing by themselves. */
function references(elements: readonly Element[]): (element: Element) => Element[] {
  const byId = new Map<string, Element[]>();
  for (const element of elements.filter(({ localName }) => !localName?.endsWith('Gradient'))) {
    const id = element.getAttribute('id');
    // A browser takes the first of two with one id; both are counted.
    if (id !== null) byId.set(id, [...(byId.get(id) ?? []), element]);
  }
  const byClass = new Map<string, Set<string>>();
  let held = 0;
  for (const { textContent } of elements.filter(({ localName }) => localName === 'style')) {
    for (const [classes, ids] of rulesOf(textContent ?? '')) {
      const known = ids.filter((id) => byId.has(id));
      // Whom another rule is for is not known here.
      if (classes === undefined && known.length > 0) throw new ImageProblem(onlyClasses);
      // A rule has each of its references for each of its classes: 240 KiB could be a hundred million of them.
      if ((held += (classes?.length ?? 0) * known.length) > mostDrawn) throw tooMuch();
      for (const name of classes ?? []) {
        const own = byClass.get(name) ?? new Set<string>();
        byClass.set(name, own);
        for (const id of known) own.add(id);
      }
    }
  }
  return (element) => {
    const own = Array.from(element.attributes).flatMap(({ localName, value }) =>
      localName === 'href' ? [value.slice(1)] : urlsOf(value),
    );
    const names = new Set((element.getAttribute('class') ?? '').split(/\s+/));
    const ofClasses = [...names].flatMap((name) => [...(byClass.get(name) ?? [])]);
    return [...new Set([...own, ...ofClasses])].flatMap((id) => byId.get(id) ?? []);
  };
}

const onlyClasses = 'must refer to its parts in attributes, or in rules like .name { … } of its style sheet';

type Rule = readonly [classes: readonly string[] | undefined, ids: readonly string[]];

/** The rules with a reference. Those of an editor are for classes alone. */
function rulesOf(css: string): Rule[] {
  return css.split('}').flatMap((rule): Rule[] => {
    const ids = [...new Set(urlsOf(rule))];
    if (ids.length === 0) return [];
    const [head = '', ...bodies] = rule.split('{');
    const selectors = head.split(',');
    const classes = selectors.flatMap((one) => /^\.([\w-]+)$/.exec(one.trim())?.[1] ?? []);
    return [[bodies.length === 1 && classes.length === selectors.length ? classes : undefined, ids]];
  });
}

const urlsOf = (text: string): string[] => [...text.matchAll(/url\(\s*["']?#([^"')\s]+)/gi)].map(([, id]) => id!);
