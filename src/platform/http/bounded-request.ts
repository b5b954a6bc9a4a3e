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
