import { useCallback, useEffect, useRef, useState } from 'react';
import type { Pages } from '@portal-auth/sdk/admin';

export interface LoadedValue<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * Loads a value, and again whenever `key` changes. An answer to an earlier question is thrown away, also when it arrives
 * after the answer to a later question. The former value stays until the new one is there.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key = ''): LoadedValue<T> {
  const [state, setState] = useState<Omit<LoadedValue<T>, 'reload'>>({
    value: undefined,
    error: undefined,
    loading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState((former) => ({ ...former, loading: true }));
    latest.current(signal).then(
      (value) => !signal.aborted && setState({ value, error: undefined, loading: false }),
      (error: unknown) => !signal.aborted && setState((former) => ({ ...former, error, loading: false })),
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { ...state, reload };
}

export interface Rows<T> {
  readonly rows: readonly T[] | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  /** Rows in all, of a list that counts them. Null: too many to count. */
  readonly total?: number | null | undefined;
  /** Loads the next page. Undefined on the last page. */
  readonly more: (() => void) | undefined;
  readonly reload: () => void;
}

interface Further<T> {
  readonly of: object | undefined;
  readonly rows: readonly T[];
  readonly next: string | null;
  readonly error?: unknown;
  readonly loading: boolean;
}

/** The rows of a list, one page after the other. `key` names the question, for example its filters. */
export function useRows<T>(list: Pages<T>, key = '', limit?: number): Rows<T> {
  const first = useLoaded((signal) => list.page({ signal, limit }), key);
  const { value, reload } = first;
  const [further, setFurther] = useState<Further<T>>();
  // Rows that follow the first page of another question do not belong to this one.
  const current = further !== undefined && further.of === value ? further : undefined;
  const next = current?.next ?? (current === undefined ? value?.next : null) ?? null;
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), [value]);
  const more = () => {
    if (next === null || current?.loading) return;
    const { signal } = (controller.current = new AbortController());
    const former = { of: value, rows: current?.rows ?? [], next };
    setFurther({ ...former, loading: true });
    list.page({ after: next, signal, limit }).then(
      (page) =>
        !signal.aborted &&
        setFurther({ of: value, rows: [...former.rows, ...page.items], next: page.next, loading: false }),
      (error: unknown) => !signal.aborted && setFurther({ ...former, error, loading: false }),
    );
  };
  return {
    rows: value === undefined ? undefined : [...value.items, ...(current?.rows ?? [])],
    error: first.error ?? current?.error,
    loading: first.loading || (current?.loading ?? false),
    total: value?.total,
    more: next === null ? undefined : more,
    reload,
  };
}
