import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import { contrastWithWhite, leastContrast } from './contrast';
import type { SettingsReader } from '../platform/config/settings-reader';
import { urlOf } from '../shared/url-text';

/** The brand of a company on the pages and in the mails. */
export abstract class BrandSettings {
  abstract readonly name: string | undefined;
  /** An https URL, or a path that starts with `/brand/`. So are the two images below. */
  abstract readonly logoUrl: string | undefined;
  /** The file of the logo in mails: a png or jpg in `BRAND_DIR`. Undefined: mails show the name. */
  abstract readonly mailLogo: string | undefined;
  /** The logo on dark backgrounds. */
  abstract readonly logoDarkUrl: string | undefined;
  abstract readonly faviconUrl: string | undefined;
  /** `#rrggbb`. */
  abstract readonly color: string;
  abstract readonly supportUrl: string | undefined;
  abstract readonly privacyUrl: string | undefined;
  abstract readonly imprintUrl: string | undefined;
}

const defaultColor = '#2457c5';
export const brandPath = '/brand/';
const logoTypes = ['svg', 'png', 'jpg', 'webp', 'avif'] as const;

/** @param brandDir the folder of the files below `/brand/` */
export function readBrandSettings(env: SettingsReader, brandDir: string | undefined): BrandSettings {
  const logoUrl = readImage(env, 'BRAND_LOGO_URL', brandDir, logoTypes);
  return {
    name: readName(env),
    logoUrl,
    mailLogo: mailLogoFile(logoUrl, brandDir),
    logoDarkUrl: readImage(env, 'BRAND_LOGO_DARK_URL', brandDir, logoTypes),
    faviconUrl: readImage(env, 'BRAND_FAVICON_URL', brandDir, ['svg', 'png', 'ico']),
    color: readColor(env),
    supportUrl: readLink(env, 'SUPPORT_URL', ['https:', 'mailto:']),
    privacyUrl: readLink(env, 'PRIVACY_URL', ['https:']),
    imprintUrl: readLink(env, 'IMPRINT_URL', ['https:']),
  };
}

function readName(env: SettingsReader): string | undefined {
  const name = env.optional('BRAND_NAME');
  if (name !== undefined && (name.length > 64 || !isPlainText(name) || name.trim() === '')) {
    env.problem('BRAND_NAME', `must be 1 to 64 characters with ${plainTextRule}`);
  }
  return name;
}

function readImage(
  env: SettingsReader,
  key: string,
  brandDir: string | undefined,
  types: readonly string[],
): string | undefined {
  const value = env.optional(key);
  if (value === undefined || !value.startsWith('/')) return readLink(env, key, ['https:']);
  const name = value.slice(brandPath.length);
  if (!value.startsWith(brandPath) || !new RegExp(`^[\\w-]+\\.(${types.join('|')})$`).test(name)) {
    const listed = `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
    env.problem(key, `must be an https URL, or /brand/ and the name of an ${listed} file`);
  } else if (brandDir === undefined) {
    env.problem('BRAND_DIR', `is not set, and ${key} names a file in it`);
  } else if (!isReadableFile(join(brandDir, name))) {
    env.problem(key, 'names no file in BRAND_DIR that can be read');
  }
  return value;
}

/**
 * Mail programs do not show svg, webp and avif. For such a logo, a png of the same name beside it is the one of mails. A logo of
 * another server is no part of a mail: it would tell that server who opens the mail.
 */
function mailLogoFile(logoUrl: string | undefined, brandDir: string | undefined): string | undefined {
  if (brandDir === undefined || logoUrl?.startsWith(brandPath) !== true) return undefined;
  const name = logoUrl.slice(brandPath.length);
  const file = join(brandDir, /\.(png|jpg)$/.test(name) ? name : name.replace(/\.\w+$/, '.png'));
  return isReadableFile(file) ? file : undefined;
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function readColor(env: SettingsReader): string {
  const color = env.text('BRAND_COLOR', defaultColor).toLowerCase();
  if (!/^#[0-9a-f]{6}$/.test(color)) {
    env.problem('BRAND_COLOR', 'must look like #2457c5');
    return defaultColor;
  }
  const contrast = contrastWithWhite(color);
  if (contrast < leastContrast) {
    // Rounded down, because a contrast of 4.499 would otherwise be shown as 4.50, which looks sufficient.
    const shown = (Math.floor(contrast * 100) / 100).toFixed(2);
    env.problem('BRAND_COLOR', `gives white text a contrast of ${shown}:1, and it must reach ${leastContrast}:1`);
  }
  return color;
}

function readLink(env: SettingsReader, key: string, protocols: readonly string[]): string | undefined {
  const value = env.optional(key);
  if (value === undefined) return undefined;
  if (!/\s/.test(value) && protocols.includes(urlOf(value)?.protocol ?? '')) return value;
  env.problem(key, `must start with ${protocols.map((one) => (one === 'mailto:' ? one : `${one}//`)).join(' or ')}`);
  return undefined;
}
