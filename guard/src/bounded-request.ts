import type { Unavailable, UnavailableReason } from './auth.js';
import type { Ports } from './ports.js';

/** Bounds the memory of an answer. Ours have less than 2 kB. */
const maxBytes = 256 * 1024;

/** The service gave no usable answer, so nothing can be said about the token. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';

  constructor(readonly problem: Unavailable) {
    super(`${problem.url}: ${problem.reason}`);
  }
}

type Body = ReadableStreamDefaultReader<Uint8Array> | undefined;

/**
 * Sends a request that may be repeated, and reads a JSON answer of bounded size within a bounded time, whatever `fetch`
 * does. `fetch` of Node 20 never ends reading a compressed body that is cut off, not even when it is aborted. It loses
 * the signal when garbage is collected while a body arrives. Then only cancelling the body closes the connection. A
 * redirect is not followed, because it could carry the credentials to another server.
 * @throws UnavailableError for everything but a 200 with JSON
 */
export async function requestJson(
  url: string,
  init: { readonly method: 'GET' | 'POST'; readonly headers: Record<string, string>; readonly body?: string },
  { ports, timeoutMs }: { readonly ports: Ports; readonly timeoutMs: number },
): Promise<unknown> {
  const fail = (reason: UnavailableReason, retryAfterSeconds?: number): never => {
    const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    throw new UnavailableError({ status: 'unavailable', reason, url, ...retry });
  };
  const connection = new AbortController();
  const timeUp = new Promise<never>((_resolve, reject) => {
    connection.signal.addEventListener('abort', () => reject(connection.signal.reason as Error));
  });
  timeUp.catch(() => undefined);
  const inTime = ports.after(timeoutMs, () => connection.abort());
  let body: Body;
  const send = async () => {
    const response = await ports.fetch(url, { ...init, redirect: 'manual', signal: connection.signal });
    body = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
    return { status: response.status, headers: response.headers, text: await boundedText(body) };
  };
  try {
    // A server that restarts closes idle connections, which the first request after that may meet. After the time-out the
    // second attempt fails at once.
    const { status, headers, text } = await Promise.race([send().catch(send), timeUp]);
    if (status === 429) return fail('rate_limited', seconds(headers));
    if (status === 401) return fail('client_refused');
    if (status !== 200) return fail('unexpected_status', seconds(headers));
    return text === undefined ? fail('answer_too_long') : (parse(text) ?? fail('malformed_answer'));
  } catch (error) {
    if (error instanceof UnavailableError) throw error;
    return fail(connection.signal.aborted ? 'timeout' : 'connection');
  } finally {
    inTime();
    // An answer that was read to its end has given its connection back, which this leaves open.
    connection.abort();
    body?.cancel().catch(() => undefined);
  }
}

/** @returns undefined when the answer is too long; the rest is not read */
async function boundedText(body: Body): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; body !== undefined;) {
    const { done, value } = await body.read();
    if (done) break;
    size += value.length;
    if (size > maxBytes) return undefined;
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function seconds(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}
