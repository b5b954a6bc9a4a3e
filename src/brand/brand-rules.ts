import { contrastWithWhite, leastContrast } from '../mail/contrast';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import { type BrandValues, imageFields, type ImageField, linkFields } from './brand.entity';
import { type CheckedImage, imageName, imageOf } from './images/image';
import { ImageProblem } from './images/image-problem';
import { urlOf } from '../shared/url-text';

export { largestImageBytes, typeOf as typeOfImage } from './images/image';

/** The names on the wire. */
export const wireNames = {
  name: 'name',
  color: 'color',
  logoLight: 'logo_light',
  logoDark: 'logo_dark',
  favicon: 'favicon',
  tagline: 'tagline',
  supportUrl: 'support_url',
  privacyUrl: 'privacy_url',
  imprintUrl: 'imprint_url',
} as const satisfies Record<keyof BrandValues, string>;

/** What is given, under the names on the wire. */
export type GivenBrand = { readonly [Name in (typeof wireNames)[keyof BrandValues]]?: string | null | undefined };

export const changeOf = (given: GivenBrand): BrandChange =>
  Object.fromEntries(Object.entries(wireNames).map(([field, name]) => [field, given[name]]));

/** What is given: a field that is missing stays as it is, and null removes it. */
export type BrandChange = { readonly [Field in keyof BrandValues]?: string | null | undefined };

export class BrandProblem extends Error {
  override readonly name = 'BrandProblem';

  /** @param fields by the names on the wire, each with sentences for a person */
  constructor(readonly fields: Record<string, string[]>) {
    super('the brand cannot be stored as it is given');
  }
}

export interface CheckedBrand {
  readonly values: Partial<BrandValues>;
  /** Null: the image is removed. */
  readonly images: ReadonlyMap<ImageField, CheckedImage | null>;
}

/** @param former the file names of the images, which may be given as they are shown @throws BrandProblem for all fields at once */
export function checkedBrand(change: BrandChange, former: Pick<BrandValues, ImageField> | null): CheckedBrand {
  const problems: Record<string, string[]> = {};
  const values: Partial<BrandValues> = {};
  const images = new Map<ImageField, CheckedImage | null>();
  const refuse = (field: keyof BrandValues, why: string) =>
    (problems[wireNames[field]] = [`${wireNames[field]} ${why}`]);
  const text = (field: keyof BrandValues, problemOf: (given: string) => string | undefined) => {
    const given = change[field];
    if (given === undefined) return;
    const trimmed = given === null ? null : given.trim();
    const why = trimmed === null ? undefined : problemOf(trimmed);
    if (why !== undefined) refuse(field, why);
    values[field] = trimmed;
  };

  text('name', (given) => textProblem(given, 64));
  text('tagline', (given) => textProblem(given, 160));
  text('color', colorProblem);
  if (typeof values.color === 'string') values.color = values.color.toLowerCase();
  for (const field of linkFields) text(field, (given) => linkProblem(given, field === 'supportUrl'));
  for (const field of imageFields) {
    const given = change[field];
    if (given === undefined || (given !== null && given === shownPath(former?.[field]))) continue;
    try {
      const image = given === null ? null : imageOf(given);
      images.set(field, image);
      values[field] = image?.name ?? null;
    } catch (error) {
      if (!(error instanceof ImageProblem)) throw error;
      refuse(field, error.message);
    }
  }
  if (Object.keys(problems).length > 0) throw new BrandProblem(problems);
  return { values, images };
}

/** The path of a stored image. */
export const shownPath = (name: string | null | undefined): string | null =>
  name != null && imageName.test(name) ? `/brand/${name}` : null;

function textProblem(given: string, most: number): string | undefined {
  const fits = given.length >= 1 && given.length <= most && isPlainText(given);
  return fits ? undefined : `must have 1 to ${most} characters with ${plainTextRule}`;
}

function colorProblem(given: string): string | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(given)) return 'must look like #2457c5';
  const contrast = contrastWithWhite(given.toLowerCase());
  if (contrast >= leastContrast) return undefined;
  // Rounded down: 4.499 shown as 4.50 would look sufficient.
  const shown = (Math.floor(contrast * 100) / 100).toFixed(2);
  return `gives white text a contrast of ${shown}:1, and it must reach ${leastContrast}:1`;
}

function linkProblem(given: string, mail: boolean): string | undefined {
  const protocols = mail ? ['https:', 'mailto:'] : ['https:'];
  const fits =
    given.length <= 512 && !/\s/.test(given) && isPlainText(given) && protocols.includes(urlOf(given)?.protocol ?? '');
  if (fits) return undefined;
  return `must start with https://${mail ? ' or mailto:' : ''} and have at most 512 characters`;
}
