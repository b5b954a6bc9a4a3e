import type { ParameterizedContext } from 'koa';
import type { Library } from './library';

/**
 * Writes that the rest of a request does not wait for, so that they share a statement with a later write. The answer waits for
 * all of them: nobody gets a token before it is stored.
 */
export class RequestWrites {
  private readonly requests = new WeakMap<object, Promise<unknown>[]>();

  constructor(private readonly library: Library) {}

  /** @returns at once in a request, and after the write outside of one */
  async begin(write: Promise<unknown>): Promise<void> {
    const { ctx } = this.library.Provider;
    if (ctx === undefined) {
      await write;
      return;
    }
    // `beforeAnswer` sees the error.
    write.catch(() => undefined);
    this.requests.set(ctx, [...(this.requests.get(ctx) ?? []), write]);
  }

  /** Koa sends the answer when its middleware has returned. */
  readonly beforeAnswer = async (ctx: ParameterizedContext, next: () => Promise<unknown>): Promise<void> => {
    await next();
    await Promise.all(this.requests.get(ctx) ?? []);
  };
}
