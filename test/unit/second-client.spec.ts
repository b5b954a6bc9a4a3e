import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { contract } from '../support/contract';
import { runScript } from '../support/run-script';

/** swagger-typescript-api generates a class with methods by tag. The generator of the SDK makes functions. */
describe('a client that another generator makes', () => {
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-'));
    file = join(folder, 'client.ts');
    expect(await runScript('scripts/second-client.mjs', folder)).toMatchObject({ code: 0 });
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has a method for every operation', async () => {
    const source = await readFile(file, 'utf8');
    const names = Object.values(contract.paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId?: string }>).map(({ operationId }) => operationId),
    );
    const administration = Object.keys(contract.paths).filter((path) => path.startsWith('/admin/'));
    expect(administration.length).toBeGreaterThan(5);
    expect(names.filter((name) => !name?.startsWith('admin'))).toHaveLength(24);
    expect(names.filter((name) => !source.includes(` ${name}: (`))).toEqual([]);
  });

  it('compiles in strict mode, and distinguishes failures by error_code', () => {
    const use = join(folder, 'use.ts');
    ts.sys.writeFile(
      use,
      `import { Api } from './client';
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
    );
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      noUncheckedIndexedAccess: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
    };
    const problems = ts.getPreEmitDiagnostics(ts.createProgram([use], options));
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  }, 120_000);
});
