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
export async function answerOf<T>(call: Promise<Outcome<T>>): Promise<T> {
  let outcome: Outcome<T>;
  try {
    outcome = await call;
  } catch (error) {
    throw failureOf(error, undefined);
  }
  if (outcome.data === undefined) throw failureOf(outcome.error, outcome.response);
  return outcome.data;
}

/** Like `answerOf`, but returns the `data` inside the envelope. */
export async function dataOf<T>(call: Promise<Outcome<{ data: T }>>): Promise<T> {
  return (await answerOf(call)).data;
}
