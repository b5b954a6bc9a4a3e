import { hrefOf, replace, usePlace } from './place';

/**
 * The filters of a list, and the order `sort`, which are in the address, so that a reload, a link and the Back button keep
 * them. A change begins the list anew: it removes the number of rows from the address.
 */
export function useFilters<K extends string>(names: readonly K[]) {
  const { path, params } = usePlace();
  const values = Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Record<K, string>;
  const show = (next: Partial<Record<K, string>>) => replace(hrefOf(path, next));
  return {
    values,
    /** Changes with every filter: the key of the question. */
    key: names.map((name) => `${name}=${values[name]}`).join('&'),
    any: names.some((name) => name !== 'sort' && values[name] !== ''),
    set: (name: K, value: string) => {
      // The address of this moment, because the filters of another field may have changed since the last rendering.
      const now = new URLSearchParams(location.hash.split('?')[1]);
      const current = Object.fromEntries(names.map((one) => [one, now.get(one) ?? ''])) as Record<K, string>;
      show({ ...current, [name]: value });
    },
    /** Keeps the order. */
    clear: () =>
      show(Object.fromEntries(names.map((name) => [name, name === 'sort' ? values[name] : ''])) as typeof values),
  };
}

/** Only the filters that are set. */
export function given<T extends Readonly<Record<string, string>>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<T>;
}
