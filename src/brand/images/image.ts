import { createHash } from 'node:crypto';
import { assertPng, assertWebp } from './raster';
import { ImageProblem } from './image-problem';
import { assertSvg } from './svg';

/** An image that may be served: its form was checked, not only its first bytes. */
export interface CheckedImage {
  /** The hash of the content and the extension. */
  readonly name: string;
  readonly content: Buffer;
}

export const largestImageBytes = 256 * 1024;
const largest = `${largestImageBytes / 1024} KiB`;

const kinds = {
  png: { type: 'image/png', check: assertPng },
  webp: { type: 'image/webp', check: assertWebp },
  svg: { type: 'image/svg+xml', check: assertSvg },
} as const;
type Kind = keyof typeof kinds;

/** The names that `imageOf` gives. */
export const imageName = /^[0-9a-f]{40}\.(png|webp|svg)$/;
export const typeOf = (name: string): string => kinds[name.slice(name.lastIndexOf('.') + 1) as Kind].type;

/** @throws ImageProblem with a sentence for the person who chose the file */
export function imageOf(dataUrl: string): CheckedImage {
  const [head = '', body = ''] = [dataUrl.slice(0, dataUrl.indexOf(',')), dataUrl.slice(dataUrl.indexOf(',') + 1)];
  const kind = (Object.keys(kinds) as Kind[]).find((one) => head === `data:${kinds[one].type};base64`);
  if (kind === undefined) throw new ImageProblem('must be a data URL of a PNG, WebP or SVG image in base64');
  if (body.length > Math.ceil(largestImageBytes / 3) * 4) throw new ImageProblem(`must have at most ${largest}`);
  const content = Buffer.from(body, 'base64');
  // Node skips what is no base64, so the text is compared.
  if (content.toString('base64') !== body) throw new ImageProblem('must be well-formed base64');
  if (content.length > largestImageBytes) throw new ImageProblem(`must have at most ${largest}`);
  kinds[kind].check(content);
  return { name: `${createHash('sha256').update(content).digest('hex').slice(0, 40)}.${kind}`, content };
}
