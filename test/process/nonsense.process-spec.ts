import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ServiceProcess } from '../support/servers/service-process';

type Methods = Readonly<Record<string, unknown>>;
const { paths } = JSON.parse(readFileSync(resolve(__dirname, '../../openapi.json'), 'utf8')) as {
  paths: Readonly<Record<string, Methods>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
);
/** The routes with this text in the place of each parameter. */
const routesWith = (parameter: string) =>
  operations.map(({ method, path }) => ({ method, path: path.replace(/\{[^}]+\}/g, parameter) }));
const withBody = routesWith('x').filter(({ method }) => method !== 'GET');

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const tooLarge = JSON.stringify({ a: 'x'.repeat(2_000_000) });

/** `npm start` has the pages, the console and its API on, which other tests start alone. */
describe('what npm start starts', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    // The demo, as scripts/demo.mjs runs it. It keeps its data in its own empty folder.
    service = await ServiceProcess.start({ script: 'dist/src/demo.js' });
  });
  afterAll(() => service.stop());

  /** The code of the envelope, or else the status and the beginning of the body. */
  async function answerOf(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    const answer = await fetch(`${service.url}${path}`, { method, body, headers: { ...headers, accept: 'text/html' } });
    const text = await answer.text();
    const code = /^\{"error_code":"([A-Z_]+_\d{6})","msg":"/.exec(text)?.[1];
    return code ?? `${answer.status} ${text.slice(0, 80)}`;
  }

  it('has the pages', async () => {
    expect(await answerOf('GET', '/')).toMatch(/^200 <!doctype html>/i);
  });

  it.each([
    ['dot segments and NUL', '..%2f%00'],
    ['an emoji', '%F0%9F%92%A9'],
    ['SQL', "'%20OR%201=1"],
    ['__proto__', '__proto__'],
    ['5,000 characters', 'x'.repeat(5000)],
  ])(
    'answers each route without a body whose parameters are %s: in the envelope, never 5xx',
    async (_what, parameter) => {
      const wrong: string[] = [];
      for (const { method, path } of routesWith(parameter)) {
        const answer = await answerOf(method, path).catch((error: Error) => String(error.cause));
        // Its refusal is that of RFC 6749.
        const isOwn = path === '/introspect' && answer.startsWith('401 {"error":"invalid_client"');
        if (!/^(2\d\d |[A-Z_]+_4\d{5}$)/.test(answer) && !isOwn) wrong.push(`${method} ${path} → ${answer}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  it.each([
    ['malformed JSON', '{', json, 'COMMON_400001'],
    ['an array', '[1]', json, 'COMMON_400001'],
    ['a text', '"x"', json, 'COMMON_400001'],
    ['a key __proto__', '{"__proto__":{"a":1}}', json, 'COMMON_400001'],
    ['XML', '<a/>', { 'content-type': 'text/xml' }, 'COMMON_415001'],
    ['a form', 'x=1', form, 'COMMON_415001'],
    ['a coded body', 'x', { ...json, 'content-encoding': 'gzip' }, 'COMMON_415001'],
    ['a body of 2 MB', tooLarge, json, 'COMMON_413001'],
  ])('answers %s with the envelope on every route', async (_what, body, headers, code) => {
    const wrong: string[] = [];
    for (const { method, path } of withBody) {
      const answer = await answerOf(method, path, body, headers).catch((error: Error) => String(error.cause));
      // Its bodies are forms (RFC 7662).
      const takesForms = path === '/introspect';
      if (takesForms && headers === form) continue;
      const takesNoJson = takesForms || path === '/admin/users/import';
      // Its body may be large, and is read after the guards.
      const readsLate = path.startsWith('/admin/brand');
      const expected =
        code !== 'COMMON_400001' ? code : readsLate ? 'AUTH_401001' : takesNoJson ? 'COMMON_415001' : code;
      if (answer !== expected) wrong.push(`${method} ${path} → ${answer}`);
    }
    expect(withBody.length).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });
});
