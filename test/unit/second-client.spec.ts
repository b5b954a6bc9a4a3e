import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { contract } from '../support/contract';
import { runScript } from '../support/run-script';

const committed = resolve(__dirname, '../../sdk/typescript/src/generated');

describe('the generated operations of the SDK', () => {
  it('are those of the document: npm run openapi writes both', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'operations-'));
    try {
      expect(await runScript('tools/sdk-operations.mjs', folder)).toMatchObject({ code: 0 });
      const filesOf = async (root: string) =>
        (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts')).sort();
      const files = await filesOf(folder);
      expect(await filesOf(committed)).toEqual(files);
      for (const file of files) {
        const text = (root: string) => readFile(join(root, file), 'utf8');
        expect([file, await text(committed)]).toEqual([file, await text(folder)]);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 240_000);
});

/**
 * The document suits generators of every style: a class with methods by tag (swagger-typescript-api), types of paths and
 * operations (openapi-typescript), and a function for each operation (Kubb). The generator of the SDK is one more.
 */
describe('clients that other generators make', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-'));
    expect(await runScript('tools/second-client.mjs', folder)).toMatchObject({ code: 0 });
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('have a method, a type or a function for every operation', async () => {
    const source = (file: string) => readFile(join(folder, file), 'utf8');
    const [methods, types, functions] = [await source('client.ts'), await source('paths.ts'), await source(kubb)];
    const names = Object.values(contract.paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId?: string }>).map(({ operationId }) => operationId),
    );
    const administration = Object.keys(contract.paths).filter((path) => path.startsWith('/admin/'));
    expect(administration.length).toBeGreaterThan(5);
    expect(names.filter((name) => !name?.startsWith('admin'))).toHaveLength(42);
    expect(names.filter((name) => !methods.includes(` ${name}: (`))).toEqual([]);
    expect(names.filter((name) => !types.includes(`\n    ${name}: {`))).toEqual([]);
    expect(names.filter((name) => !functions.includes(`export async function ${name}(`))).toEqual([]);
  });

  it('compile in strict mode, and distinguish failures by error_code', () => {
    const files = Object.entries(uses).map(([name, text]) => {
      const file = join(folder, name);
      ts.sys.writeFile(file, text);
      return file;
    });
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      noUncheckedIndexedAccess: true,
      skipDefaultLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
    };
    const problems = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  }, 240_000);
});

const kubb = 'kubb/functions.ts';

/** What a program does with each client. The unused error codes show that the types are not `any`. */
const uses = {
  'use-class.ts': `
    import { Api } from './client';
    type Failure = Awaited<ReturnType<Api<unknown>['login']['login']>>['error'];
    export function seconds(failure: Failure): number {
      if (failure.error_code === 'MFA_429001') return failure.data.retry_after;
      // @ts-expect-error no such code at the login
      if (failure.error_code === 'AUTH_401003') return 1;
      return 0;
    }
    export async function uid(api: Api<unknown>): Promise<string | null> {
      const { data } = await api.login.login({ username: 'a', password: 'b', captcha_token: 'c' });
      return data.data.change_uid;
    }`,
  'use-paths.ts': `
    import type { operations, paths } from './paths';
    type Answers = operations['login']['responses'];
    type Failure = Answers[401 | 404 | 429]['content']['application/json'];
    export function seconds(failure: Failure): number {
      if (failure.error_code === 'MFA_429001') return failure.data.retry_after;
      // @ts-expect-error no such code at the login
      if (failure.error_code === 'AUTH_401003') return 1;
      return 0;
    }
    export const uid = (answer: Answers[200]['content']['application/json']): string | null => answer.data.change_uid;
    export const body: paths['/login']['post']['requestBody']['content']['application/json'] = {
      username: 'a', password: 'b', captcha_token: 'c',
    };`,
  'use-functions.ts': `
    import { adminListUsers, login } from './kubb/functions';
    import type { Login401, Login429 } from './kubb/types';
    export function seconds(failure: Login401 | Login429): number {
      if (failure.error_code === 'MFA_429001') return failure.data.retry_after;
      // @ts-expect-error no such code at the login
      if (failure.error_code === 'AUTH_401003') return 1;
      return 0;
    }
    export async function uid(): Promise<string | null> {
      const { data } = await login({ username: 'a', password: 'b', captcha_token: 'c' });
      return data.change_uid;
    }
    export async function names(): Promise<string[]> {
      const { data } = await adminListUsers({ limit: 10, locked: true });
      return data.items.map(({ login_name }) => login_name);
    }`,
};
