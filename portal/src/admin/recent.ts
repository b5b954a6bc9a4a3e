/** A page of the console that was shown. */
export interface Recent {
  readonly href: string;
  readonly title: string;
}

const most = 6;

let recent: readonly Recent[] = [];

/**
 * The latest page comes first. They are in memory only, because a title can be the name of a person: nothing of it is left
 * in the browser.
 */
export function noteRecent(href: string, title: string): void {
  recent = [{ href, title }, ...recent.filter((one) => one.href !== href)].slice(0, most + 1);
}

/** The pages that were shown before this one. */
export const recentPages = (here: string): readonly Recent[] =>
  recent.filter(({ href }) => href !== here).slice(0, most);

/** The next administrator must not see where this one was. */
export const forgetRecent = (): void => {
  recent = [];
};
