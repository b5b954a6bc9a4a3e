import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ServiceProcess } from '../support/servers/service-process';

type Methods = Readonly<Record<string, unknown>>;
const { paths } = JSON.parse(readFileSync(resolve(__dirname, '../../openapi.json'), 'utf8')) as {
  paths: Readonly<Record<string, Methods>>;
};
const withBody = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods)
    .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
    .map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{[^}]+\}/g, 'x') })),
);

const json = { 'content-type': 'application/json' };
const tooLarge = JSON.stringify({ a: 'x'.repeat(2_000_000) });

/** `npm start` has the pages, the console and its API on, which other tests start alone. */
describe('what npm start starts', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    // The demo, as scripts/demo.mjs runs it. It keeps its data in its own empty folder.
    service = await ServiceProcess.start({ script: 'dist/src/demo.js' });
  });
  afterAll(() => service.stop());

  async function answerOf(method: string, path: string, body: string, headers: Record<string, string>) {
    const answer = await fetch(`${service.url}${path}`, { method, body, headers: { ...headers, accept: 'text/html' } });
    const text = await answer.text();
    const code = /^\{"error_code":"([A-Z_]+_\d{6})","msg":"/.exec(text)?.[1];
    return code ?? `${answer.status} ${text.slice(0, 80)}`;
  }

  it.each([
    ['malformed JSON', '{', json, 'COMMON_400001'],
    ['an array', '[1]', json, 'COMMON_400001'],
    ['a text', '"x"', json, 'COMMON_400001'],
    ['a key __proto__', '{"__proto__":{"a":1}}', json, 'COMMON_400001'],
    ['XML', '<a/>', { 'content-type': 'text/xml' }, 'COMMON_415001'],
    ['a coded body', 'x', { ...json, 'content-encoding': 'gzip' }, 'COMMON_415001'],
    ['a body of 2 MB', tooLarge, json, 'COMMON_413001'],
  ])('answers %s with the envelope on every route', async (_what, body, headers, code) => {
    const wrong: string[] = [];
    for (const { method, path } of withBody) {
      const answer = await answerOf(method, path, body, headers).catch((error: Error) => String(error.cause));
      // Its bodies are forms (RFC 7662).
      const expected = path === '/introspect' && code === 'COMMON_400001' ? 'COMMON_415001' : code;
      if (answer !== expected) wrong.push(`${method} ${path} → ${answer}`);
    }
    expect(withBody.length).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });
});
