import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const kinds = { spec: 'e2e-spec', db: 'db-spec', process: 'process-spec', browser: 'browser-spec', unit: 'spec' };

const filesBelow = (folder: string): string[] =>
  readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`);

const files = new Set(
  ['test', 'src', 'guard/test', 'guard/src', 'sdk/typescript/test', 'portal/src', 'scripts'].flatMap(filesBelow),
);

/**
 * The file that a page means by a name such as `spec/login`, `guard/test/jwks` or `src/server.ts`. A name without an
 * ending is a test.
 * @returns undefined when there is no such file
 */
export function namedFile(name: string): string | undefined {
  const [, kind, rest] = /^(spec|db|process|browser|unit)\/(.+)$/.exec(name) ?? [];
  const path = kind === undefined ? name : `test/${kind}/${rest}`;
  const ending = kind === undefined ? 'spec' : kinds[kind as keyof typeof kinds];
  return [path, `${path}.${ending}.ts`].find((file) => files.has(file) && /\.\w+$/.test(file));
}

/** The names of files in a text of Markdown: words in backticks that have a slash and no space. */
export function namesOfFiles(text: string): string[] {
  const words = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)`/g)].map(([, name]) => String(name));
  return words.filter((word) => /^(spec|db|process|browser|unit|src|test|guard|sdk|portal|scripts)\//.test(word));
}
