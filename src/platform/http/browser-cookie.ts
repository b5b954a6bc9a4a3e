import type { Random } from '../../shared/random';

const form = /^[\w-]{43}$/;

/** `__Host-`: no other host of the domain can set the cookie, so nobody can slip a session of another person in. */
export const cookieName = (address: string, name: string): string =>
  address.startsWith('https:') ? `__Host-portal-${name}` : `portal-${name}`;

/** `__Secure-`: for a cookie of one path, which cannot have `__Host-`. No page without TLS can set it. */
export const pathCookieName = (address: string, name: string): string =>
  address.startsWith('https:') ? `__Secure-portal-${name}` : `portal-${name}`;

/**
 * The cookie of the browser that begins a sign-in. One value for all tabs, so two sign-ins at once both go on. The link of a
 * sign-in alone does nothing in another browser.
 * @param address with which the browser comes: https or http
 */
export function browserOf(address: string, name: string, cookies: string | undefined): string | undefined {
  const start = `${cookieName(address, name)}=`;
  const found = cookies
    ?.split(/; */)
    .find((cookie) => cookie.startsWith(start))
    ?.slice(start.length);
  return found !== undefined && form.test(found) ? found : undefined;
}

/** @returns the value, and the header that sets it */
export function newBrowser(address: string, name: string, random: Random): readonly [value: string, header: string] {
  const value = random.bytes(32).toString('base64url');
  const secure = address.startsWith('https:') ? '; Secure' : '';
  return [value, `${cookieName(address, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`];
}
