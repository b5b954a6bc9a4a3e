import { paths } from '../paths';
import { pathOf } from '../return-to';
import { remembered, target } from '../tab-memory';

const hour = 3_600_000;
const kept = remembered('portal.interaction', () => localStorage);

const isInteraction = (path: string | undefined): path is string =>
  path !== undefined && pathOf(path) === paths.interaction && path.includes('#');

/**
 * The sign-in to an application during which the user has asked for a link to set a password. The link opens in another
 * tab, so all tabs of the browser keep the sign-in, for the hour that the service keeps it.
 */
export const overMail = {
  /** The link is asked for. A link that belongs to no such sign-in ends the memory of the former one. */
  leave: (): void => {
    const path = target.get();
    kept.set(isInteraction(path) ? `${Date.now()} ${path}` : undefined);
  },
  /** The link has set the password. A page that its tab was asked for wins. */
  arrive: (): void => {
    const [since, path] = kept.get()?.split(' ') ?? [];
    kept.set(undefined);
    const age = Date.now() - Number(since);
    if (target.get() === undefined && age >= 0 && age < hour && isInteraction(path)) target.set(path);
  },
  /** A sign-in to an application goes on in this browser. */
  forget: (): void => kept.set(undefined),
};
