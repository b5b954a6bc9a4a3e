import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import { decodedOnce } from '../return-to';
import { leadElsewhere } from '../unsaved';

/** A place in the console: `#/users?query=ann`. It is in the fragment, so that search terms reach no access log. */
export interface Place {
  readonly path: string;
  /** The decoded parts of the path. */
  readonly parts: readonly string[];
  readonly params: URLSearchParams;
}

const listeners = new Set<() => void>();
const told = (): void => {
  for (const listener of listeners) listener();
};

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('hashchange', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('hashchange', listener);
  };
}

const snapshot = (): string => (location.hash.startsWith('#/') ? location.hash.slice(1) : '/');

/** For the provider of `PlaceContext` only. */
export function useHash(): Place {
  const text = useSyncExternalStore(subscribe, snapshot);
  return useMemo(() => {
    const [path = '/', query] = text.split('?');
    return {
      path,
      parts: path
        .split('/')
        .filter(Boolean)
        .map((part) => decodedOnce(part) ?? part),
      params: new URLSearchParams(query),
    };
  }, [text]);
}

/**
 * One subscription for all pages. With several, React would render the old page once more, with the address of the new one.
 */
export const PlaceContext = createContext<Place>({ path: '/', parts: [], params: new URLSearchParams() });

export const usePlace = (): Place => useContext(PlaceContext);

export type Params = Readonly<Record<string, string | undefined>>;

/** `hrefOf('/users', { query: 'ann' })` is `#/users?query=ann`. Empty values are left out. */
export function hrefOf(path: string, params: Params = {}): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return `#${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`;
}

export const userHref = (uid: string): string => hrefOf(`/users/${encodeURIComponent(uid)}`);

export const identityProviderHref = (id: string): string => hrefOf(`/identity-providers/${encodeURIComponent(id)}`);
export const groupHref = (id: string): string => hrefOf(`/groups/${encodeURIComponent(id)}`);

export const eventReceiverHref = (id: string): string => hrefOf(`/event-receivers/${encodeURIComponent(id)}`);

export const applicationHref = (id: string): string => hrefOf(`/applications/${encodeURIComponent(id)}`);

export function go(href: string): void {
  leadElsewhere();
  location.hash = href;
}

/** Changes one value of the place. The others stay. */
export function setParam(name: string, value: string): void {
  const [path = '/', query] = snapshot().split('?');
  replace(hrefOf(path, { ...Object.fromEntries(new URLSearchParams(query)), [name]: value }));
}

/** Changes the filters of the place. A key press must not become an entry of the browser's history. */
export function replace(href: string): void {
  history.replaceState(history.state, '', href);
  told();
}
