/**
 * Works on up to `width` items at the same time, and yields the results in the order of the items. A result that fails is
 * thrown when its turn comes.
 */
export async function* readAhead<T, R>(
  items: AsyncIterable<T>,
  width: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const started: Promise<R>[] = [];
  for await (const item of items) {
    const result = work(item);
    // The caller may stop before this result is awaited. Its failure must not end the process.
    result.catch(() => undefined);
    started.push(result);
    if (started.length >= width) yield started.shift() as Promise<R>;
  }
  for (const result of started) yield result;
}
