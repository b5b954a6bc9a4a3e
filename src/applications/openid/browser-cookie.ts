import type { Random } from '../../shared/random';
import { cookieName } from './ports';

const form = /^[\w-]{43}$/;

/**
 * The cookie of the browser that begins an interaction. One value for all tabs, so two interactions at once both go on. The
 * link of an interaction alone does nothing in another browser.
 */
export function browserOf(issuer: string, cookies: string | undefined): string | undefined {
  const name = `${cookieName(issuer, 'browser')}=`;
  const found = cookies
    ?.split(/; */)
    .find((cookie) => cookie.startsWith(name))
    ?.slice(name.length);
  return found !== undefined && form.test(found) ? found : undefined;
}

/** @returns the value, and the header that sets it */
export function newBrowser(issuer: string, random: Random): readonly [value: string, header: string] {
  const value = random.bytes(32).toString('base64url');
  const secure = issuer.startsWith('https:') ? '; Secure' : '';
  return [value, `${cookieName(issuer, 'browser')}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`];
}
