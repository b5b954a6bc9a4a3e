import { type Client, createClient, createConfig } from './generated/client/index.js';
import type { ClientClock } from './client-clock.js';
import { failureOf } from './failures.js';
import type { Proofs } from './proofs.js';

export interface ServiceClientOptions {
  /** Base URL of the service. In a page that the service itself serves, an empty string. */
  readonly baseUrl: string;
  readonly fetch?: typeof fetch;
  /** Time-out of a request in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
}

/** The generated client, with a time-out, the user's language and proofs on every request. */
export function serviceClient(
  options: ServiceClientOptions,
  language: () => string | undefined,
  clock: ClientClock,
  proofs: Proofs,
): Client {
  const { baseUrl, timeoutMs = 20_000, fetch: send = (...call: Parameters<typeof fetch>) => fetch(...call) } = options;
  const sendInTime = (request: Request): Promise<Response> => {
    // The timer still runs after the headers have arrived, because the body can hang too.
    const controller = new AbortController();
    clock.after(timeoutMs, () => controller.abort());
    // `AbortSignal.any` is newer than the supported browsers (portal/README.md).
    const { signal: callers } = request;
    if (callers.aborted) controller.abort();
    callers.addEventListener('abort', () => controller.abort(), { once: true });
    return send(new Request(request, { signal: controller.signal }));
  };
  const client = createClient(
    createConfig({
      baseUrl: baseUrl.replace(/\/+$/, ''),
      fetch: (request) => proofs.send(request as Request, sendInTime),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    }),
  );
  client.interceptors.request.use((request) => {
    const wanted = language();
    if (wanted !== undefined) request.headers.set('accept-language', wanted);
    return request;
  });
  return client;
}

/** What a generated operation resolves to. */
export interface Outcome<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response?: Response;
}

/**
 * Returns the body of the answer.
 * @throws ServiceError or ConnectionError
 */
export function answerOf<T>(call: Promise<Outcome<T>>): Promise<T> {
  return read(call, (body) => body ?? undefined);
}

/** Like `answerOf`, but returns the `data` inside the envelope. */
export function dataOf<T>(call: Promise<Outcome<{ data: T }>>): Promise<T> {
  return read(call, (body) => body?.data ?? undefined);
}

/**
 * A network that wants a sign-in first, or a proxy that does not know the service, answers a page with 200. Taken for an answer
 * it would confirm what has not happened, such as a sign-out. The service never answers a page.
 */
async function read<B, T>(call: Promise<Outcome<B>>, part: (body: B | undefined) => T | undefined): Promise<T> {
  let outcome: Outcome<B>;
  try {
    outcome = await call;
  } catch (error) {
    throw failureOf(error, undefined);
  }
  const { data, error, response } = outcome;
  const isPage = response?.headers.get('content-type')?.startsWith('text/html');
  const answer = isPage ? undefined : part(data);
  if (answer === undefined) throw failureOf(error, response);
  return answer;
}
