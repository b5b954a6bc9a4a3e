/**
 * Loads something at its first use, once for all callers. A failure is not remembered: the next caller tries again, so
 * that a file that could not be read once is no outage until the next start.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}
