interface Bounds {
  /** Limits the whole exchange, with the reading of the body. */
  readonly timeoutMs: number;
  /** The limit of the body after decompression. */
  readonly largestBody: number;
}

/** The body of a response with status 200, or the reason why there is none. */
export type BoundedAnswer = { readonly text: string } | { readonly failure: string };

class AnswerTooLarge extends Error {}

/**
 * Asks another service: one try, bounded in time and size, no redirect. It never throws. `failure` is a code or a fixed
 * word, because the message of an error may quote the URL, which may contain a password.
 */
export async function boundedRequest(
  url: string,
  { timeoutMs, largestBody }: Bounds,
  request: Pick<RequestInit, 'method' | 'headers' | 'body'> = {},
): Promise<BoundedAnswer> {
  try {
    return await exchange(url, AbortSignal.timeout(timeoutMs), request, async ({ status }, body) =>
      status === 200 ? { text: await boundedText(body, largestBody) } : { failure: `status ${status}` },
    );
  } catch (error) {
    return { failure: reasonOf(error) };
  }
}

/** How much of the body of an accepted message is read. The connection can be used again when the body has ended. */
const drained = { bytes: 16_384, ms: 1000 };

/**
 * Delivers a message to another service: one try, no redirect. A status from 200 to 299 means that the message has
 * arrived, whatever the body says or however long it is. It never throws.
 * @returns undefined, or the reason of the failure: a code or a fixed word
 */
export async function boundedDelivery(
  url: string,
  signal: AbortSignal,
  request: Pick<RequestInit, 'headers' | 'body'>,
): Promise<string | undefined> {
  let hasArrived = false;
  try {
    return await exchange(url, signal, { ...request, method: 'POST' }, async ({ ok, status }, body) => {
      hasArrived = ok;
      if (!ok) return `status ${status}`;
      await drain(body);
      return undefined;
    });
  } catch (error) {
    if (hasArrived) return undefined;
    return signal.aborted ? 'timeout' : reasonOf(error);
  }
}

type Body = ReadableStreamDefaultReader<Uint8Array> | undefined;

/**
 * Sends a request, and ends when the answer has been read or the signal is aborted, whatever `fetch` does. `fetch` of
 * Node 20 never ends reading a compressed body that is cut off, not even by the signal. It also keeps the connection of
 * a body that nobody reads open for ever, for example that of a redirect with a long page. `fetch` loses its signal when
 * garbage is collected while a body arrives. Then only cancelling the body closes the connection.
 */
async function exchange<T>(
  url: string,
  signal: AbortSignal,
  request: RequestInit,
  read: (response: Response, body: Body) => Promise<T>,
): Promise<T> {
  const connection = new AbortController();
  const end = () => connection.abort(signal.reason);
  const ended = new Promise<never>((_resolve, reject) => {
    connection.signal.addEventListener('abort', () => reject(connection.signal.reason as Error));
  });
  ended.catch(() => undefined);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  let body: Body;
  try {
    const answer = fetch(url, { ...request, redirect: 'error', signal: connection.signal }).then((response) => {
      body = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
      return read(response, body);
    });
    answer.catch(() => undefined);
    return await Promise.race([answer, ended]);
  } finally {
    signal.removeEventListener('abort', end);
    // An answer that was read to its end has given its connection back, which this leaves open.
    connection.abort();
    body?.cancel().catch(() => undefined);
  }
}

/** Never throws: the status has decided. Cancelling the body closes the connection. */
async function drain(body: Body): Promise<void> {
  if (body === undefined) return;
  const timer = setTimeout(() => void body.cancel().catch(() => undefined), drained.ms);
  try {
    for (let size = 0; size <= drained.bytes;) {
      const { done, value } = await body.read();
      if (done) return;
      size += value.length;
    }
    await body.cancel();
  } catch {
    // The receiver closed the connection within the body.
  } finally {
    clearTimeout(timer);
  }
}

async function boundedText(body: Body, largestBody: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; body !== undefined;) {
    const { done, value } = await body.read();
    if (done) break;
    size += value.length;
    if (size > largestBody) throw new AnswerTooLarge();
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reasonOf(error: unknown): string {
  if (error instanceof AnswerTooLarge) return 'too large';
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: unknown };
  if (name === 'TimeoutError') return 'timeout';
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (message === 'unexpected redirect') return 'redirect';
  return typeof code === 'string' ? code : 'unreachable';
}
