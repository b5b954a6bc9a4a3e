import { paths } from './paths';

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
const targets: readonly string[] = [paths.account, paths.totp];

/** The page that a signed-out user asked for. It is shown after the login. */
export const target = {
  get: (): string | undefined => targets.find((path) => path === asked.get()),
  set: (path: string | undefined): void => asked.set(path),
};
