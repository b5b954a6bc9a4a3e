import { paths } from './paths';
import { pathOf, safePath } from './return-to';

/** A text that this tab remembers over a reload, if the browser allows storage. */
function remembered(key: string): { get(): string | undefined; set(text: string | undefined): void } {
  let kept: string | undefined;
  return {
    get: () => {
      try {
        return sessionStorage.getItem(key) ?? kept;
      } catch {
        return kept;
      }
    },
    set: (text) => {
      kept = text;
      try {
        if (text === undefined) sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, text);
      } catch {
        // The tab remembers it until it is reloaded.
      }
    },
  };
}

/** The last user name or e-mail address that was typed. Password managers need it beside a new password. */
export const typedName = remembered('portal.typed-name');

const asked = remembered('portal.target');
/** A signed-in user is sent away from these pages, so they cannot be a target. */
const passing: readonly string[] = [paths.login, paths.code];

/** The path that a signed-out user asked for: a page, or `return_to` of the login page. It is shown after the login. */
export const target = {
  get: (): string | undefined => {
    const path = safePath(asked.get());
    return path === undefined || passing.includes(pathOf(path)) ? undefined : path;
  },
  set: (path: string | undefined): void => asked.set(path),
};

/** Keeps `/?return_to=/reports` for the end of the login. What is not a path of this origin is ignored. */
export function keepReturnTo(): void {
  if (location.pathname !== paths.login) return;
  const path = safePath(new URLSearchParams(location.search).get('return_to'));
  if (path !== undefined) target.set(path);
}
