import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

/** A page whose script is not part of the first one. */
interface LaterPage {
  readonly Page: ComponentType;
  /** Loads the script before the page is shown. */
  readonly fetch: () => Promise<unknown>;
}

/**
 * Loads the script of a page when the page is shown. React's `lazy` would show the page up to 300 ms late, because Suspense
 * delays content that follows an empty fallback.
 */
export function later(load: () => Promise<ComponentType>): LaterPage {
  let loaded: ComponentType | undefined;
  const fetch = async () => (loaded ??= await load());
  function Page(): ReactNode {
    const [{ page: Loaded, error }, setState] = useState<{ page?: ComponentType; error?: Error }>({ page: loaded });
    useEffect(() => {
      let mounted = true;
      fetch().then(
        (page) => mounted && setState({ page }),
        (cause: unknown) => mounted && setState({ error: new Error('the page did not load', { cause }) }),
      );
      return () => {
        mounted = false;
      };
    }, []);
    // PageBoundary shows the failure.
    if (error !== undefined) throw error;
    return Loaded === undefined ? null : <Loaded />;
  }
  return { Page, fetch };
}
