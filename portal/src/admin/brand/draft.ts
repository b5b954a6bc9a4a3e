import type { AdminBrand, AdminBrandChange } from '@portal-auth/sdk/admin';
import { changedIn, orNull } from '../drafts';
import { type ImageDraft, isChosen, urlOf } from './chosen-image';
import { contrastOf, leastContrast } from './contrast';

export const images = ['logo_light', 'logo_dark', 'favicon'] as const;
export const links = ['support_url', 'privacy_url', 'imprint_url'] as const;
type Text = 'name' | 'color' | 'tagline' | (typeof links)[number];

/** What the form holds. An empty text is one that is inherited. */
export type Draft = Readonly<Record<Text, string> & Record<(typeof images)[number], ImageDraft>>;

export const draftOf = (brand: AdminBrand): Draft => ({
  name: brand.name ?? '',
  color: brand.color ?? '',
  tagline: brand.tagline ?? '',
  support_url: brand.support_url ?? '',
  privacy_url: brand.privacy_url ?? '',
  imprint_url: brand.imprint_url ?? '',
  logo_light: brand.logo_light,
  logo_dark: brand.logo_dark,
  favicon: brand.favicon,
});

/** What the service is asked to change. */
export const changeOf = (before: Draft, now: Draft): AdminBrandChange => changedIn(wireOf(before), wireOf(now));

const wireOf = ({ logo_light, logo_dark, favicon, ...texts }: Draft): AdminBrandChange => ({
  ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, orNull(text)])),
  ...Object.fromEntries(
    Object.entries({ logo_light, logo_dark, favicon }).map(([name, image]) => [
      name,
      isChosen(image) ? image.dataUrl : image,
    ]),
  ),
});

/** What pages and mails would show. */
export interface Shown {
  readonly name: string | null;
  readonly color: string;
  readonly tagline: string | null;
  readonly light: string | null;
  readonly dark: string | null;
  /** Mail programs show PNG only, so another logo is replaced by the name. */
  readonly mail: string | null;
}

/** The two logos belong together: with one of its own, a tenant inherits none. */
export function shownOf(draft: Draft, { inherited }: AdminBrand): Shown {
  const own = draft.logo_light !== null || draft.logo_dark !== null;
  const [light, dark] = own ? [draft.logo_light, draft.logo_dark] : [inherited.logo_light, inherited.logo_dark];
  return {
    name: orNull(draft.name) ?? inherited.name,
    color: (contrastOf(draft.color.trim()) ?? 0) >= leastContrast ? draft.color.trim() : inherited.color,
    tagline: orNull(draft.tagline) ?? inherited.tagline,
    ...{ light: urlOf(light), dark: urlOf(dark), mail: isPng(light) ? urlOf(light) : null },
  };
}

const isPng = (image: ImageDraft): boolean =>
  isChosen(image) ? image.dataUrl.startsWith('data:image/png;') : image?.endsWith('.png') === true;
