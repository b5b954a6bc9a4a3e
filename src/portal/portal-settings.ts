import { statSync } from 'node:fs';
import type { SettingsReader } from '../platform/config/settings-reader';
import { urlOf } from '../shared/url-text';

export abstract class PortalSettings {
  /** Whether this service serves the web pages (docs/spec/extensions.md#h). */
  abstract readonly on: boolean;
  /** The folder of the files below `/brand/`. */
  abstract readonly brandDir: string | undefined;
  /** Where a sign-in leads that names no other page: an https URL, or a path (docs/spec/extensions.md#portal-home). */
  abstract readonly homeUrl: string | undefined;
}

export function readPortalSettings(env: SettingsReader): PortalSettings {
  const brandDir = env.optional('BRAND_DIR');
  if (brandDir !== undefined && !isFolder(brandDir)) env.problem('BRAND_DIR', 'is not a folder');
  return { on: env.choice('PORTAL', ['on', 'off'], 'off') === 'on', brandDir, homeUrl: readHomeUrl(env) };
}

function readHomeUrl(env: SettingsReader): string | undefined {
  const value = env.optional('PORTAL_HOME_URL');
  if (value === undefined || isHttpsUrl(value) || isOnePath(value)) return value;
  env.problem('PORTAL_HOME_URL', 'must be an https URL, or a path that begins with one slash and has no backslash');
  return undefined;
}

/** A URL parser drops white space and reads a backslash as a slash, so neither may be in the text. */
const isPlain = (text: string): boolean => !/[\\\s\p{Cc}\p{Cf}]/u.test(text);

function isHttpsUrl(value: string): boolean {
  if (!isPlain(value) || !/^https:\/\/[^/]/i.test(value)) return false;
  const { username, password } = urlOf(value) ?? {};
  return username === '' && password === '';
}

/** A path that stays one after dot segments and percent encoding are resolved: `/..//evil.example` does not. */
function isOnePath(value: string): boolean {
  const url = isPlain(value) && /^\/(?!\/)/.test(value) ? urlOf(value, anyOrigin) : undefined;
  if (url === undefined) return false;
  const { origin, pathname } = url;
  return origin === anyOrigin && !pathname.startsWith('//') && !/%(2f|5c|25)/i.test(pathname);
}

const anyOrigin = 'https://portal.invalid';

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
