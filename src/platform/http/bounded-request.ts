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
    const response = await fetch(url, { ...request, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    if (response.status === 200) return { text: await boundedText(response, largestBody) };
    await response.body?.cancel();
    return { failure: `status ${response.status}` };
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
  try {
    const response = await fetch(url, { ...request, method: 'POST', redirect: 'error', signal });
    if (!response.ok) {
      await response.body?.cancel();
      return `status ${response.status}`;
    }
    await drain(response);
    return undefined;
  } catch (error) {
    return signal.aborted ? 'timeout' : reasonOf(error);
  }
}

/** Never throws: the status has decided. Cancelling the body closes the connection. */
async function drain(response: Response): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return;
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), drained.ms);
  try {
    for (let size = 0; size <= drained.bytes;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
    }
    await reader.cancel();
  } catch {
    // The receiver closed the connection within the body.
  } finally {
    clearTimeout(timer);
  }
}

async function boundedText(response: Response, largestBody: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Throwing inside the loop cancels the stream and closes the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > largestBody) throw new AnswerTooLarge();
    chunks.push(chunk);
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
