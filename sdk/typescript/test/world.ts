import {
  memoryStorage,
  PortalAuth,
  type ClientClock,
  type KeyValueStorage,
  type Locks,
  type PortalAuthOptions,
} from '../dist/index.js';

/** A clock that only the test moves. Timers that become due run in the order of their times. */
export class FakeClock implements ClientClock {
  private time = Date.UTC(2026, 0, 5, 9);
  private readonly timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.time;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.time + milliseconds, callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  async pass(seconds: number): Promise<void> {
    const end = this.time + seconds * 1000;
    for (;;) {
      await settled();
      const due = [...this.timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (due === undefined) break;
      this.timers.delete(due);
      this.time = Math.max(this.time, due.at);
      due.callback();
    }
    this.time = end;
    await settled();
  }

  /** Sets the clock without running timers, as a user does who changes the time of the computer. */
  jump(seconds: number): void {
    this.time += seconds * 1000;
  }
}

/** Waits until all promises have settled that wait only for other promises. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: Record<string, unknown>;
  readonly bearer: string | undefined;
  readonly language: string | null;
  readonly accept: string | null;
  readonly url: string;
  readonly authorization: string | null;
  /** The proof of possession. */
  readonly dpop: string | null;
}

type Reply = { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> };
type Route = (asked: Asked) => Reply | Promise<Reply>;

export const ok = (data: unknown): Reply => ({ status: 200, body: { status: true, data } });
export const no = (error_code: string, retry_after?: number): Reply => ({
  status: Number(/_(\d{3})/.exec(error_code)?.[1]),
  body: { error_code, msg: 'no', ...(retry_after !== undefined && { data: { retry_after } }) },
});

/** A fake service with replies set by the test, and one browser with its storage. */
export class World {
  readonly clock = new FakeClock();
  readonly storage = memoryStorage();
  readonly asked: Asked[] = [];
  /** The time of the service, for answers that tell it. */
  time: (() => number) | undefined;
  private readonly routes = new Map<string, Route>();

  /** `path` may start with a method, as in `DELETE /user/sessions`. Such a route precedes one without a method. */
  on(path: string, ...replies: (Reply | Route)[]): this {
    let turn = 0;
    this.routes.set(path, (asked) => {
      const reply = replies[Math.min(turn++, replies.length - 1)]!;
      return typeof reply === 'function' ? reply(asked) : reply;
    });
    return this;
  }

  count(path: string): number {
    return this.asked.filter((one) => one.path === path).length;
  }

  readonly fetch = async (...[input]: Parameters<typeof fetch>): Promise<Response> => {
    const request = input as Request;
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const asked: Asked = {
      method: request.method,
      path: pathname,
      query: search,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      bearer: request.headers.get('authorization')?.replace('Bearer ', ''),
      language: request.headers.get('accept-language'),
      accept: request.headers.get('accept'),
      url: request.url,
      authorization: request.headers.get('authorization'),
      dpop: request.headers.get('dpop'),
    };
    this.asked.push(asked);
    const route = this.routes.get(`${request.method} ${pathname}`) ?? this.routes.get(pathname);
    if (route === undefined) throw new TypeError('connection refused');
    const { status, body, headers: more } = await Promise.race([route(asked), aborted(request.signal)]);
    const date: Record<string, string> = this.time === undefined ? {} : { date: new Date(this.time()).toUTCString() };
    const headers = { 'content-type': 'application/json', ...date, ...more };
    return new Response(JSON.stringify(body), { status, headers });
  };

  /** Opens a tab. With the `tabStorage` of an earlier tab it is that tab after a reload. */
  tab(tabStorage: KeyValueStorage = memoryStorage(), more: Partial<PortalAuthOptions> = {}): PortalAuth {
    return new PortalAuth({
      baseUrl: 'http://service.test',
      fetch: this.fetch as typeof fetch,
      storage: this.storage,
      tabStorage,
      clock: this.clock,
      locks: null,
      ...more,
    });
  }
}

export const credentials = { username: 'alice', password: 'Correct-Horse-7', captchaToken: 'solved' };

const answer = {
  access_token: null,
  refresh_token: null,
  user_info: {
    uid: 'u-1',
    login_name: 'alice',
    nickname: null,
    email: 'a•••@example.com',
    is_admin: null,
    role: null,
    tenant_id: null,
    org_unit_id: null,
  },
  tenants: [],
  org_units: [],
  change_password: false,
  change_uid: null,
  mfa_required: false,
  mfa_type: 'email',
  mfa_token: null,
  device_token: null,
};

export const loggedIn = ok({ ...answer, access_token: 'access-1', refresh_token: 'refresh-1' });
export const codeWanted = ok({ ...answer, mfa_required: true, mfa_token: 'pending-1' });
export const totpWanted = ok({ ...answer, mfa_required: true, mfa_type: 'totp', mfa_token: 'pending-1' });
export const changeWanted = ok({ ...answer, change_password: true, change_uid: 'r-1' });
/** A login without a code, because this browser is a trusted device. */
export const trustedIn = (deviceToken: string): Reply =>
  ok({ ...answer, access_token: 'access-1', refresh_token: 'refresh-1', device_token: deviceToken });
const accepted = { result: true, access_token: 'access-2', refresh_token: 'refresh-2' };
/** Any answer with a pair. */
export const loggedInWith = (access: string, refresh: string): Reply =>
  ok({ ...answer, access_token: access, refresh_token: refresh });
export const codeAccepted = ok({ ...accepted, device_token: null });
export const deviceTrusted = (deviceToken: string): Reply => ok({ ...accepted, device_token: deviceToken });
export const fresh = (access: string, refresh = 'refresh-1'): Reply =>
  ok({ access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 900 });

/** A fake of `navigator.locks`: one holder at a time, over all tabs. */
export function fakeLocks(): Locks {
  let last: Promise<unknown> = Promise.resolve();
  const request = (_name: string, work: () => Promise<unknown>) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  return { request: request as Locks['request'] };
}

/** A storage that notes each value that is written to it. */
export const listening = (storage: KeyValueStorage, written: string[]): KeyValueStorage => ({
  ...storage,
  setItem: (key, value) => {
    written.push(value);
    storage.setItem(key, value);
  },
});

/** The error that the promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return { ...(error as Record<string, unknown>), name: (error as Error).name };
  }
  throw new Error('the promise resolved, but a rejection was expected');
}

/** Rejects when the signal aborts, as `fetch` does. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}
