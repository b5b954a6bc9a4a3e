import { brandUrl } from '../../offer';

/** A file that was chosen and is not saved yet. */
export interface ChosenImage {
  readonly dataUrl: string;
  /** For `<img>`: the Content-Security-Policy of the pages allows no data URLs. */
  readonly blobUrl: string;
}

/** The path of a stored image, a chosen file, or none. */
export type ImageDraft = ChosenImage | string | null;

/** Why a file cannot be an image of the brand. The service judges its content. */
export type ImageFault = 'type' | 'size' | 'broken';

export const imageTypes = { png: 'image/png', webp: 'image/webp', svg: 'image/svg+xml' } as const;
const largest = 256 * 1024;

export const isChosen = (image: ImageDraft): image is ChosenImage => typeof image === 'object' && image !== null;

export const urlOf = (image: ImageDraft): string | null =>
  isChosen(image) ? image.blobUrl : image === null ? null : brandUrl(image);

export async function chosenImage(file: File): Promise<ChosenImage | ImageFault> {
  const type = typeOf(file);
  if (type === undefined) return 'type';
  if (file.size > largest) return 'size';
  const image = new Blob([file], { type });
  const blobUrl = URL.createObjectURL(image);
  try {
    const [dataUrl] = await Promise.all([dataUrlOf(image), shown(blobUrl)]);
    return { dataUrl, blobUrl };
  } catch {
    URL.revokeObjectURL(blobUrl);
    return 'broken';
  }
}

/** Some systems know no type of an SVG file. */
function typeOf({ name, type }: File): string | undefined {
  const known = Object.entries(imageTypes);
  return known.find(([ending, one]) => type === one || (type === '' && name.toLowerCase().endsWith(`.${ending}`)))?.[1];
}

const dataUrlOf = (image: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error('the file cannot be read'));
    reader.readAsDataURL(image);
  });

/** Resolves when the browser can show the image. */
const shown = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve();
    image.onerror = () => reject(new Error('the browser shows no such image'));
    image.src = url;
  });
