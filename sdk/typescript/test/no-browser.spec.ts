import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { PortalAuth } from '../dist/index.js';
import { credentials, fresh, loggedIn, no, ok, World } from './world';

const index = resolve(__dirname, '../dist/index.js');

/** Replaces globals during `run`. Undefined: the environment does not have the global. */
async function withGlobals(globals: Record<string, unknown>, run: () => Promise<void>): Promise<void> {
  const former = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  try {
    await run();
  } finally {
    for (const [name, descriptor] of former)
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
  }
}

describe('without a browser', () => {
  it('a script of Node 20 that refreshes runs to its end, and then ends at once', async () => {
    // Node has Web Locks from version 24 on.
    const program = `
      import { PortalAuth } from ${JSON.stringify(index)};
      let access = 'access-1';
      const routes = {
        '/login': ${JSON.stringify(loggedIn)},
        '/refresh': ${JSON.stringify(fresh('access-2'))},
        '/user/me': ${JSON.stringify(ok({ uid: 'u-1', login_name: 'alice' }))},
      };
      const fetch = async (request) => {
        const { pathname } = new URL(request.url);
        const stale = pathname === '/user/me' && request.headers.get('authorization') !== 'Bearer access-2';
        const { status, body } = stale ? ${JSON.stringify(no('AUTH_401002'))} : routes[pathname];
        return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
      };
      const auth = new PortalAuth({ baseUrl: 'http://service.test', fetch, locks: null });
      await auth.login(${JSON.stringify(credentials)});
      console.log((await auth.me()).login_name);
      const began = performance.now();
      process.on('exit', () => console.log(performance.now() - began < 15_000));`;
    const args = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe('alice\ntrue\n');
  });

  it.each([
    ['on a host with plain http, where crypto has no randomUUID', {}],
    ['in React Native, which has no crypto', undefined],
  ])('a user signs in and refreshes %s', async (_case, crypto) => {
    await withGlobals({ crypto }, async () => {
      const world = new World().on('/login', loggedIn).on('/refresh', fresh('access-2'));
      world.on('/user/me', ({ bearer }) => (bearer === 'access-2' ? ok({ uid: 'u-1' }) : no('AUTH_401002')));
      const auth = world.tab();
      await auth.login(credentials);
      const me = auth.me();
      await world.clock.pass(1);
      expect(await me).toEqual({ uid: 'u-1' });
    });
  });

  it('a server whose Node has a global localStorage keeps its users apart', async () => {
    const stored = new Map<string, string>();
    const localStorage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    };
    await withGlobals({ localStorage, sessionStorage: localStorage }, async () => {
      const world = new World().on('/login', loggedIn);
      const options = { baseUrl: 'http://service.test', fetch: world.fetch as typeof fetch, clock: world.clock };
      const first = new PortalAuth(options);
      await first.login(credentials);
      expect(first.snapshot.step.kind).toBe('signed-in');
      expect(new PortalAuth(options).snapshot.step.kind).toBe('signed-out');
      expect(stored.size).toBe(0);
    });
  });

  it('a server draws the page of nobody, whoever is signed in there', async () => {
    const world = new World().on('/login', loggedIn);
    const auth = world.tab();
    const before = auth.serverSnapshot;
    await auth.login(credentials);
    expect(auth.serverSnapshot).toBe(before);
    expect(before).toEqual(new World().tab().snapshot);
  });
});
