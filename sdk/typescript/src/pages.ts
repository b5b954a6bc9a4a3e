import { ServiceError } from './failures.js';

export interface Page<T> {
  readonly items: T[];
  /** Passed as `after`, it leads to the next page. Null on the last page. */
  readonly next: string | null;
  /** How many rows there are in all, of a list that counts them. Null: too many to count. */
  readonly total?: number | null;
}

export interface CallSignal {
  /** An aborted call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

export interface PageOptions extends CallSignal {
  readonly after?: string | undefined;
  /** Rows of a page, 1 to 200. Default: 50 for `page()`, 200 for an iteration. */
  readonly limit?: number | undefined;
}

export interface PageSource<T> {
  readonly page: (options: PageOptions) => Promise<Page<T>>;
  /** The whole list as `application/x-ndjson` or `text/csv`. */
  readonly file: (options: CallSignal & { readonly format?: 'csv' }) => Promise<Blob>;
  readonly pause: (seconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** An iteration waits at most so long for a service that is busy, and so many times for one page. */
const patience = { seconds: 60, times: 3 } as const;

/**
 * A list of the service. `for await (const row of list)` asks for a page when the rows of the former page are used up,
 * so that a program can stop at any row.
 */
export class Pages<T> implements AsyncIterable<T> {
  constructor(private readonly source: PageSource<T>) {}

  page(options: PageOptions = {}): Promise<Page<T>> {
    return this.source.page(options);
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return this.each();
  }

  /** An iteration from the row after `after`, that a signal can stop. */
  async *each({ after, limit = 200, signal }: PageOptions = {}): AsyncGenerator<T, void, undefined> {
    for (let next: string | null | undefined = after; next !== null;) {
      signal?.throwIfAborted();
      const page: Page<T> = await this.patiently({ after: next, limit, signal });
      yield* page.items;
      next = page.next;
    }
  }

  /** All rows as a file with one JSON object per line, which the service streams. */
  file(options: CallSignal = {}): Promise<Blob> {
    return this.source.file(options);
  }

  /** All rows as a CSV file for a spreadsheet. Only the two logs are offered so. */
  spreadsheet(options: CallSignal = {}): Promise<Blob> {
    return this.source.file({ ...options, format: 'csv' });
  }

  /** A program that reads thousands of pages meets the rate limit. It waits as the service says. */
  private async patiently(options: PageOptions): Promise<Page<T>> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.source.page(options);
      } catch (error) {
        const seconds = error instanceof ServiceError ? error.retryAfter : undefined;
        if (seconds === undefined || seconds > patience.seconds || tries > patience.times) throw error;
        await this.source.pause(seconds, options.signal);
      }
    }
  }
}

/** In Node, this wait keeps the program running. */
export async function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
