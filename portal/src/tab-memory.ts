import { paths } from './paths';
import { pathOf, safePath } from './return-to';

/** A text that this tab keeps, or all tabs do. It survives a reload if the browser allows storage. */
export function remembered(
  key: string,
  storage = (): Storage => sessionStorage,
): { get(): string | undefined; set(text: string | undefined): void } {
  let kept: string | undefined;
  return {
    get: () => {
      try {
        return storage().getItem(key) ?? kept;
      } catch {
        return kept;
      }
    },
    set: (text) => {
      kept = text;
      try {
        if (text === undefined) storage().removeItem(key);
        else storage().setItem(key, text);
      } catch {
        // The text stays in memory until the tab is reloaded.
      }
    },
  };
}

/** The user name or e-mail address that the user typed last. Password managers need it beside a new password. */
export const typedName = remembered('portal.typed-name');

/**
 * The account whose password was set by a link just now, for the login page that follows. In memory only: after a new
 * password nothing about the account stays in the storage of the browser.
 */
let latest: { readonly name: string; readonly first: boolean } | undefined;
export const passwordSet = {
  get: () => latest,
  in: (account: typeof latest): void => void (latest = account),
};

/** The user has signed in with a password in this tab, and the welcome page has not ended since. */
export const passwordLogin = remembered('portal.password-login');

const asked = remembered('portal.target');
/** The pages redirect a signed-in user to another page, so they cannot be a target. */
const passing: readonly string[] = [paths.login, paths.code, paths.welcome];

const lasting = (path: string | undefined): string | undefined =>
  path === undefined || passing.includes(pathOf(path)) ? undefined : path;

/**
 * The page to open after a login without a target (`PORTAL_HOME_URL`): a path of this origin, or an https URL. Undefined
 * stands for the account page, also when the setting names a page that would redirect here again.
 */
export function homeOf(homeUrl: string | null): string | undefined {
  if (homeUrl === null) return undefined;
  const { origin, protocol, pathname, search, hash, href } = new URL(homeUrl, location.href);
  if (origin === location.origin) return lasting(safePath(pathname + search + hash));
  return protocol === 'https:' ? href : undefined;
}

/** The path to open after the login: the page that a signed-out user requested, or `return_to` of the login page. */
export const target = {
  get: (): string | undefined => {
    return lasting(safePath(asked.get()));
  },
  set: (path: string | undefined): void => asked.set(path),
};

/** The tenant whose brand the pages show in this browser. */
export const brandTenant = remembered('portal.tenant', () => localStorage);

/**
 * Remembers what a link to the pages asks for. The tenant of `/?tenant=ID` only chooses the brand, until a link names another one;
 * `?tenant=` forgets it. The path in `/?return_to=/reports`, or the sign-in of an application in `/?interaction=UID`, is kept until
 * the login is complete. Ignores all but paths of this origin.
 */
export function keepAddress(): void {
  const search = new URLSearchParams(location.search);
  const tenant = search.get('tenant');
  // A longer one is no id, and would be a part of each request.
  if (tenant !== null) brandTenant.set(tenant.slice(0, 64));
  if (location.pathname !== paths.login) return;
  const uid = search.get('interaction');
  const path = safePath(uid === null ? search.get('return_to') : `${paths.interaction}#${encodeURIComponent(uid)}`);
  if (path !== undefined) target.set(path);
}
